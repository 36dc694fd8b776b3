package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// TestContribution checks that computing how well an issue suits contributors costs one search. It
// costs nothing for pull requests, and if no rule asks for it.
func TestContribution(t *testing.T) {
	t.Parallel()
	const search = "GET /search/issues 200"
	tests := []struct {
		name, when, title string
		fires             bool
		calls             int
	}{
		{"nothing asks", `issue.number == 7`, "Explain the retry option", true, 0},
		{"the score", `contrib.score == 60 and contrib.duplicate_evidence == "low"`, "Explain the retry option", true, 1},
		{"a pull request with that title", `contrib.duplicate_evidence == "medium" and contrib.score == 45 and not contrib.security_sensitive`, "Improve the README examples section", true, 1},
		{"a pull request that names another", `contrib.duplicate_evidence == "high"`, "Number seven of many", false, 1},
		{"a vulnerability", `contrib.security_sensitive and contrib.score == 0`, "CVE-2026-1 in the parser", true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, _, o := world(t, "rules:\n  - {id: r, when: '"+tt.when+"', then: [escalate]}\n  - {id: s, when: '"+tt.when+"', then: [escalate]}\n")
			gh.Repo("o/r").AddIssue(githubtest.Issue{Number: 3, Title: "Improve README examples", PullRequest: true}).
				AddIssue(githubtest.Issue{Number: 4, Title: "Words", Body: "Fixes #8", PullRequest: true})
			e, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: fmt.Appendf(nil, `{"action": "opened", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
				"issue": {"number": 7, "title": %q, "body": "The page lists every option but this one, for years.", "user": {"login": "u"}, "labels": []}}`, tt.title)})
			if err != nil {
				t.Fatal(err)
			}
			rep, err := run(t, o, e)
			if err != nil {
				t.Fatal(err)
			}
			if fired := len(rep.Fired()) > 0; fired != tt.fires {
				t.Errorf("fired is %t, want %t", fired, tt.fires)
			}
			if got := strings.Count(strings.Join(gh.Log(), "\n"), search); got != tt.calls {
				t.Errorf("%d searches, want %d: %v", got, tt.calls, gh.Log())
			}
		})
	}
}

// TestContributionOfPull checks that a pull request costs no search.
func TestContributionOfPull(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "rules:\n  - {id: r, on: pull_request.opened, when: 'contrib.duplicate_evidence == \"low\"', then: [escalate]}\n")
	rep, err := run(t, o, pullOpened(t, o.Clock.Now()))
	if err != nil || len(rep.Fired()) != 1 || len(gh.Log()) > 0 {
		t.Errorf("got %+v, %v, calls %q", rep.Rules, err, gh.Log())
	}
}
