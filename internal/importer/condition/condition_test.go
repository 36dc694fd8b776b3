package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/importer/condition"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	tests := []struct{ src, want string }{
		{"github.event.pull_request.draft == false", "not pr.draft"},
		{"${{ !github.event.pull_request.draft }}", "not pr.draft"},
		{"github.event.pull_request.draft != true", "not pr.draft"},
		{"!(github.event.pull_request.draft)", "not pr.draft"},
		{"true == github.event.pull_request.draft", "pr.draft"},
		// To compare a boolean with a text, GitHub converts both to numbers. They differ, except
		// that '' equals false.
		{"'true' == github.event.pull_request.draft", "never"},
		{"github.event.pull_request.draft == 'false'", "never"},
		{"github.event.pull_request.draft != 'true'", ""},
		{"github.event.issue.locked == ''", `not (event.name == "issues" and issue.locked)`},
		{"contains(github.event.issue.title, 'x') == 'true'", "never"},
		{"contains(github.event.issue.title, 'x') != 'true'", ""},
		// An object equals neither true nor false.
		{"github.event.issue.pull_request == true", "never"},
		{"github.event.issue.pull_request != true", ""},
		{"github.event.issue.pull_request != false", "never"},
		{"github.event.pull_request", `event.name == "pull_request"`},
		{"github.event.pull_request == null", `not (event.name == "pull_request")`},
		{"contains(github.event.pull_request.assignees.*.login, 'Mona')", `event.name == "pull_request" and any(issue.assignees, lower(#) == "mona")`},
		{"github.actor == 'a' && ((github.event.action == 'opened' || github.event.action == 'edited') || github.event_name == 'schedule')",
			`lower(actor.login) == "a" | (event.action == "opened" or event.action == "edited")`},
		{"github.event.label.name == 'a' || (github.actor == 'a' && ((github.event.action == 'opened' || github.event.action == 'edited') || false))",
			`(lower(event.label) == "a" or (lower(actor.login) == "a" and (event.action == "opened" or event.action == "edited")))`},
		{"github.repository == 'Octo-Org/hello'", `lower(repo.full_name) == "octo-org/hello"`},
		{"github.repository_owner == 'octo' && !github.event.pull_request.draft", `lower(repo.owner) == "octo" | not pr.draft`},
		{"github.actor != 'dependabot[bot]'", `lower(actor.login) != "dependabot[bot]"`},
		{"github.event.sender.type != 'Bot'", `actor.type != "Bot"`},
		{"contains(github.event.pull_request.title, 'WIP')", `event.name == "pull_request" and lower(issue.title) contains "wip"`},
		{"!contains(github.event.issue.title, '[skip]')", `not (event.name == "issues" and lower(issue.title) contains "[skip]")`},
		{"startsWith(github.head_ref, 'Release/')", `lower(pr.head) startsWith "release/"`},
		{"endsWith(github.event.comment.body, '!')", `event.comment.body endsWith "!"`},
		{"contains(github.event.issue.labels.*.name, 'Bug')", `event.name == "issues" and label("Bug")`},
		{"!contains(github.event.pull_request.labels.*.name, 'it''s')", `not (event.name == "pull_request" and label("it's"))`},
		{`contains(fromJSON('["OWNER","member"]'), github.event.issue.author_association)`, `event.name == "issues" and issue.association in ["OWNER", "MEMBER"]`},
		{`contains(fromJson('["a"]'), github.event.label.name)`, `lower(event.label) in ["a"]`},
		{"github.event.issue.pull_request", "never"},
		{"!github.event.issue.pull_request", ""},
		{"github.event.issue.pull_request == null", ""},
		{"github.event_name == 'issues' || github.event.pull_request.draft == false", `(event.name == "issues" or not pr.draft)`},
		{"github.event_name == 'PULL_REQUEST'", `event.name == "pull_request"`},
		{"github.event_name == 'pull_request_target'", "never"},
		{"github.event_name != 'pull_request_target'", ""},
		{"github.event_name == 'schedule'", "never"},
		{"github.event_name != 'schedule'", ""},
		{"(github.event.action == 'labeled' && github.event.label.name == 'x') || github.event.action == 'opened'",
			`((event.action == "labeled" and lower(event.label) == "x") or event.action == "opened")`},
		{"(github.event.action == 'opened' || github.event.issue.milestone == null) && always()", `(event.action == "opened" or not (event.name == "issues") or issue.milestone == "")`},
		{"(github.event.action == 'opened' || github.event.action == 'edited') && github.actor == '1'",
			`(event.action == "opened" or event.action == "edited") | actor.login == "1"`},
		{"true", ""},
		{"false", "never"},
		{"always() && !cancelled()", ""},
		{"failure()", "never"},
		{"github.event.pull_request.user.login == github.actor", `event.name == "pull_request" and lower(issue.author) == lower(actor.login)`},
		{"contains(github.event.issue.title, 'x') == false", `not (event.name == "issues" and lower(issue.title) contains "x")`},
		{"github.event['label']['name'] == 'x'", `lower(event.label) == "x"`},
		{"vars.ENABLED == 'true'", "lost 0: vars.ENABLED has no counterpart"},
		{"!github.event.pull_request.draft && needs.check.outputs.ok == 'true'", "not pr.draft | lost 36: needs.check.outputs.ok has no counterpart"},
		{"github.event.pull_request.head.repo.full_name == github.repository", "lost 0: github.event.pull_request.head.repo.full_name has no counterpart"},
		{"github.actor == 'a' || secrets.X", "lost 23: secrets.X has no counterpart"},
		{"contains(toJSON(github.event), 'x')", "lost 9: toJSON() has no counterpart"},
		{"github.event.issue.comments > 3", "lost 0: github.event.issue.comments has no counterpart"},
		{"hashFiles('x') != ''", "lost 0: hashFiles() has no counterpart"},
		{"${{ !github.event.pull_request.draft }} && github.actor == 'a'", "lost 40: text around ${{ }} turns the condition into a text, which is always true for GitHub"},
		{" !${{ github.event.pull_request.draft }}", "lost 1: text around ${{ }} turns the condition into a text, which is always true for GitHub"},
		{"${{ github.actor == 'a' }} ${{ github.actor == 'b' }}", "lost 27: text around ${{ }} turns the condition into a text, which is always true for GitHub"},
		{" ${{ !github.event.pull_request.draft }}\n", "not pr.draft"},
		{"github.actor == ", "lost 0: the expression cannot be parsed"},
		{"github.actor = 'a'", "lost 0: the expression cannot be parsed"},
		{"'open", "lost 0: the expression cannot be parsed"},
		{strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), "lost 0: the expression cannot be parsed"},
	}
	for _, tt := range tests {
		t.Run(tt.src, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, show(condition.Translate(tt.src, []string{"issues", "pull_request"}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTranslateEvents translates expressions whose meaning depends on the event.
func TestTranslateEvents(t *testing.T) {
	t.Parallel()
	tests := []struct{ events, src, want string }{
		{"issues", "github.event.issue.pull_request", "never"},
		{"issue_comment", "github.event.pull_request", "never"},
		{"issue_comment", "!github.event.issue.pull_request", "not (issue.url matches `/pull/[0-9]+$`)"},
		{"issue_comment", "github.event.issue.pull_request == null", "not (issue.url matches `/pull/[0-9]+$`)"},
		{"issues issue_comment", "github.event.issue.pull_request != false", "issue.url matches `/pull/[0-9]+$`"},
		{"issue_comment pull_request_target", "github.event.issue.pull_request", "event.name != \"pull_request\" and issue.url matches `/pull/[0-9]+$`"},
		{"issue_comment pull_request_target", "!github.event.issue.pull_request", "not (event.name != \"pull_request\" and issue.url matches `/pull/[0-9]+$`)"},
		{"issue_comment pull_request_target", "github.event.pull_request", `event.name == "pull_request"`},
		{"pull_request_target", "github.event_name == 'pull_request'", "never"},
		{"pull_request_target", "github.event_name == 'pull_request_target'", ""},
		{"pull_request_target", "!github.event.pull_request", "never"},
		{"issues issue_comment", "contains(github.event.issue.title, 'x')", `lower(issue.title) contains "x"`},
		{"issues issue_comment", "contains(github.event.pull_request.labels.*.name, 'x')", "never"},
		{"pull_request_target", "github.event.issue.user.login != 'mona'", ""},
		{"pull_request_target", "github.event.issue.body == null", ""},
		{"pull_request_target", "github.event.issue.body", "never"},
		{"pull_request_target", "github.event.pull_request.user.login != 'mona'", `lower(issue.author) != "mona"`},
		{"issues pull_request", "github.event.issue.user.login != 'mona'", `not (event.name == "issues" and lower(issue.author) == "mona")`},
		{"issues issue_comment pull_request", "github.event.issue.body", `event.name != "pull_request" and issue.body != ""`},
		{"issues pull_request", "github.actor == github.event.issue.user.login", `event.name == "issues" and lower(actor.login) == lower(issue.author)`},
		{"issue_comment pull_request", "!github.event.pull_request.draft", `not (event.name == "pull_request" and pr.draft)`},
		{"", "contains(github.event.issue.labels.*.name, 'x') && !github.event.issue.pull_request", "label(\"x\") | not (issue.url matches `/pull/[0-9]+$`)"},
		{"issues pull_request_target", `contains(fromJSON('["pull_request_target", "push"]'), github.event_name)`, `event.name == "pull_request"`},
		{"issues pull_request_target", "startsWith(github.event_name, 'Pull_')", `event.name == "pull_request"`},
		{"issues pull_request_target", "endsWith(github.event_name, 'push')", "never"},
		{"pull_request pull_request_target", "github.event_name == 'pull_request_target'", ""},
		{"issues.opened issues.edited", "github.event.action == 'opened'", "[issues.opened]"},
		{"issues.opened issues.edited", "github.event.action != 'edited' && github.actor == 'a'", `[issues.opened] lower(actor.login) == "a"`},
		{"issues.opened issues.edited issues.reopened", "github.event.action == 'Opened' || github.event.action == 'reopened'", "[issues.opened issues.reopened]"},
		{"issues.opened issues.edited issues.closed", `contains(fromJSON('["opened", "closed"]'), github.event.action)`, "[issues.opened issues.closed]"},
		{"issues.opened issues.reopened issues.edited", "endsWith(github.event.action, 'opened')", "[issues.opened issues.reopened]"},
		{"issues.opened issues.edited", "github.event.action == 'opened' || github.actor == 'a'", `(event.action == "opened" or lower(actor.login) == "a")`},
		{"issues.opened issues.edited", "github.event.action != 'opened' || github.actor == 'a'", `(event.action != "opened" or lower(actor.login) == "a")`},
		{"issues.opened issues.edited", "github.event.action == 'closed'", "never"},
		{"issues.* issues.edited", "github.event.action == 'opened'", `[issues.*] event.action == "opened"`},
		{"issues.opened pull_request_target.opened", "github.event_name == 'pull_request_target'", "[pull_request_target.opened]"},
		{"issues.labeled pull_request.opened", "github.event_name == 'issues' && github.event.action == 'labeled' || github.event_name == 'pull_request'", ""},
		{"issues.edited pull_request.opened", "contains(github.event.pull_request.title, 'x')", `[pull_request.opened] lower(issue.title) contains "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.events+": "+tt.src, func(t *testing.T) {
			t.Parallel()
			c := condition.Translate(tt.src, strings.Fields(tt.events))
			got := show(c)
			if !c.Never && len(c.Events) < len(strings.Fields(tt.events)) {
				got = strings.TrimSpace(fmt.Sprint(c.Events, " ", got))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func show(c condition.Condition) string {
	parts := c.Terms
	for _, p := range c.Lost {
		parts = append(parts, fmt.Sprintf("lost %d: %s", p.At, p.Msg))
	}
	if c.Never {
		parts = append(parts, "never")
	}
	return strings.Join(parts, " | ")
}

func FuzzTranslate(f *testing.F) {
	f.Add("contains(fromJSON('[\"a\"]'), github.event.label.name) && !(a['b'] || always())")
	f.Add("1 == -1.5 || 'x' < github.actor")
	f.Fuzz(func(t *testing.T, src string) {
		c := condition.Translate(src, []string{"issues"})
		for _, p := range c.Lost {
			if p.At < 0 || p.At > len([]rune(src)) || p.Msg == "" {
				t.Errorf("a problem outside of the source: %#v", p)
			}
		}
	})
}
