package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

func compiled(t *testing.T, src string) *rules.Set {
	t.Helper()
	source, err := rules.Parse("rules.yml", []byte("version: 1\nrules:\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestKnows checks which names after /foreman are commands of the rules.
func TestKnows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rule string
		Type       bool
	}{
		{"asked for", `{id: a, on: issue_comment.created, when: command("ship"), then: [{add_label: x}]}`, true},
		{"deep inside", `{id: a, on: [issues.opened, issue_comment.*], when: 'label("b") or any(["a"], # == "b" and command("ship"))', then: [{add_label: x}]}`, true},
		{"by a name that is not fixed", `{id: a, on: issue_comment.created, when: 'any(["ship"], command(#))', then: [{add_label: x}]}`, true},
		{"another", `{id: a, on: issue_comment.created, when: command("land"), then: [{add_label: x}]}`, false},
		{"in a text", `{id: a, on: issue_comment.created, when: event.comment.body contains "command(ship)", then: [{add_label: x}]}`, false},
		{"of another event", `{id: a, on: issues.opened, when: command("ship"), then: [{add_label: x}]}`, false},
		{"no condition", `{id: a, on: issue_comment.created, then: [{add_label: x}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := compiled(t, "  - "+tt.rule+"\n")
			if _, err := set.Decide(t.Context(), facts.Facts{Event: triage.Event{Name: "issue_comment", Action: "created"}}); err != nil {
				t.Fatal(err) // Decide may compile conditions; Knows must still find the command
			}
			if got := (*ruleset.Set)(set).Rules().Knows("ship"); got != tt.Type {
				t.Errorf("got %v, want %v", got, tt.Type)
			}
		})
	}
	none := (*ruleset.Set)(nil).Rules()
	if none.Knows("ship") || none.UsesMemory() || none.UndoesByMemory() || none.MayHaveEffect("a", triage.Issue{}) {
		t.Error("a nil set knows something")
	}
}

func TestUsesMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rule string
		want       bool
	}{
		{"condition", `{id: a, when: memory.tasks == 0, then: [{add_label: x}]}`, true},
		{"text", `{id: a, then: [{comment: "for the {{ memory.tasks }}. time"}]}`, true},
		{"list", `{id: a, then: [{add_labels: "map(memory.labels, #)"}]}`, true},
		{"once", `{id: a, then: [{comment: {body: x, once: y}}]}`, true},
		{"the word in a string", `{id: a, when: issue.title == "memory", then: [{comment: memory}]}`, false},
		{"the word in a string in a text", `{id: a, then: [{comment: '{{ "memory" }}'}]}`, false},
		{"nothing", `{id: a, then: [{add_label: x}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := (*ruleset.Set)(compiled(t, "  - "+tt.rule+"\n")).Rules().UsesMemory(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestUndoesByMemory checks which rules can be reverted by the timeline alone.
func TestUndoesByMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, on string
		want     bool
	}{
		{"a pull request", "pull_request.synchronize", false},
		{"every event of pull requests", "'pull_request.*'", false},
		{"an issue", "issues.edited", true},
		{"both", "[pull_request.opened, issues.edited]", true},
		{"comments", "issue_comment.created", true},
		{"a dispatch", "workflow_dispatch", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := compiled(t, "  - {id: a, on: "+tt.on+", when: issue.locked, else_undo: true, then: [{add_label: x}]}\n"+
				"  - {id: b, on: issues.edited, then: [{add_label: x}]}\n")
			if got := (*ruleset.Set)(set).Rules().UndoesByMemory(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAdders checks which rules are listed for a label that they add.
func TestAdders(t *testing.T) {
	t.Parallel()
	set := compiled(t, "  - {id: a, then: [{add_label: Bug}]}\n  - {id: b, then: [{add_labels: [docs, bug]}]}\n"+
		"  - {id: c, then: [{remove_label: bug}, {never_again: bug}]}\n  - {id: d, then: [{add_label: \"{{ issue.author }}\"}]}\n")
	for label, want := range map[string]string{"bug": "a b", "DOCS": "b", "x": ""} {
		if got := strings.Join((*ruleset.Set)(set).Rules().Adders(label), " "); got != want {
			t.Errorf("%s: got %q, want %q", label, got, want)
		}
	}
}

// TestMayHaveLeft checks when an issue may show effects of a rule.
func TestMayHaveLeft(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, then string
		issue      triage.Issue
		Type       bool
	}{
		{"label there", "[{add_label: Bug}]", triage.Issue{Labels: []string{"bug"}}, true},
		{"another label there", "[{add_label: bug}]", triage.Issue{Labels: []string{"docs"}}, false},
		{"one of several", "[{add_labels: [a, b]}]", triage.Issue{Labels: []string{"b"}}, true},
		{"none of several", "[{add_labels: [a, b]}]", triage.Issue{Labels: []string{"c"}}, false},
		{"a name that is made", `[{add_label: "x-{{ issue.author }}"}]`, triage.Issue{Labels: []string{"c"}}, true},
		{"a name that is made, no label", `[{add_label: "x-{{ issue.author }}"}]`, triage.Issue{}, false},
		{"a list that is made", `[{add_labels: "[issue.author]"}]`, triage.Issue{Labels: []string{"c"}}, true},
		{"label removed", "[{remove_label: bug}]", triage.Issue{}, true},
		{"assigned", "[{assign: [mona]}]", triage.Issue{Assignees: []string{"Mona"}}, true},
		{"another assigned", "[{assign: [mona]}]", triage.Issue{Assignees: []string{"hubot"}}, false},
		{"unassigned", "[{unassign: [mona]}]", triage.Issue{}, true},
		{"closed", "[close_issue]", triage.Issue{State: "closed"}, true},
		{"open", "[close_issue]", triage.Issue{State: "open"}, false},
		{"to be closed", "[{close_issue: {after: 72h}}]", triage.Issue{State: "open"}, true},
		{"never again", "[{never_again: bug}]", triage.Issue{}, true},
		{"what cannot be taken back", "[{comment: x}, {react: eyes}, lock, escalate]", triage.Issue{Labels: []string{"bug"}, State: "closed"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := compiled(t, "  - {id: a, on: issues.edited, when: issue.locked, else_undo: true, then: "+tt.then+"}\n")
			if got := (*ruleset.Set)(set).Rules().MayHaveEffect("a", tt.issue); got != tt.Type || !(*ruleset.Set)(set).Rules().UndoesByMemory() || (*ruleset.Set)(set).Rules().MayHaveEffect("b", tt.issue) {
				t.Errorf("got %v, want %v; undoes %v", got, tt.Type, (*ruleset.Set)(set).Rules().UndoesByMemory())
			}
		})
	}
}

// TestLabelsOff checks that only a rule that overrides people names labels to remove, and only
// labels on the issue.
func TestLabelsOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys, then string
		want             []string
	}{
		{"one of its labels", "else_undo: true, override_humans: true", "[{add_label: bug}, {add_labels: [x, Docs]}]", []string{"Bug", "docs"}},
		{"what people did stays", "else_undo: true", "[{add_label: bug}]", nil},
		{"no else_undo", "override_humans: true", "[{add_label: bug}]", nil},
		{"a name that is made", "else_undo: true, override_humans: true", `[{add_label: "{{ issue.author }}"}]`, nil},
		{"a label that it removes", "else_undo: true, override_humans: true", "[{remove_label: bug}]", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := compiled(t, "  - {id: a, on: issues.edited, when: issue.locked, "+tt.keys+", then: "+tt.then+"}\n")
			got := (*ruleset.Set)(set).Rules().LabelsOff("a", triage.Issue{Labels: []string{"Bug", "docs", "y"}})
			if !slices.Equal(got, tt.want) || (*ruleset.Set)(set).Rules().LabelsOff("b", triage.Issue{Labels: []string{"bug"}}) != nil {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
