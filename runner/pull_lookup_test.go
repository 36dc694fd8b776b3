package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// TestPullLookups checks that commits and reviews of a pull request, and what its author opened
// before, are looked up once, and only if a rule needs them.
func TestPullLookups(t *testing.T) {
	t.Parallel()
	review := func(author, association, state string) githubtest.Review {
		return githubtest.Review{Author: author, Association: association, State: state}
	}
	messages := slices.Repeat([]string{"fix: x"}, 250)
	tests := []struct {
		name, when string
		commits    []string
		reviews    []githubtest.Review
		fires      bool
		calls      string
		err        string
	}{
		{"none", `pr.draft and len(pr.commit_messages) > 0`, nil, nil, false, "", ""},
		{"messages", `any(pr.commit_messages, # startsWith "feat") and len(pr.commit_messages) == 2`, []string{"fix: a", "feat: b\n\nfeat"}, nil, true, "GET commits, ", ""},
		{"fewer since a later push", `len(pr.commit_messages) == 1`, []string{"fix: a"}, nil, true, "GET commits, ", ""},
		{"no such message", `any(pr.commit_messages, # startsWith "feat")`, []string{"fix: a"}, nil, false, "GET commits, ", ""},
		{"a long message", `len(pr.commit_messages[0]) <= 10000`, []string{strings.Repeat("x", 20_000)}, nil, true, "GET commits, ", ""},
		{"many commits", `len(pr.commit_messages) == 250`, messages, nil, true, "GET commits, GET commits, GET commits, ", ""},
		{"too many commits", `len(pr.commit_messages) == 250`, append(messages, "y"), nil, false, "GET commits, GET commits, GET commits, ", "never more than 250"},
		{
			"approved", `pr.approved_by == ["alice"] and pr.changes_requested_by == ["bob"]`, nil,
			[]githubtest.Review{review("alice", "MEMBER", "APPROVED"), review("bob", "OWNER", "CHANGES_REQUESTED")}, true, "GET reviews, ", "",
		},
		{
			"the last review counts", `pr.approved_by == ["bob"] and pr.changes_requested_by == []`, nil,
			[]githubtest.Review{
				review("alice", "MEMBER", "APPROVED"), review("bob", "MEMBER", "CHANGES_REQUESTED"),
				review("bob", "MEMBER", "APPROVED"), review("bob", "MEMBER", "COMMENTED"), review("alice", "MEMBER", "DISMISSED"),
			}, true, "GET reviews, ", "",
		},
		{
			"strangers count for nothing", `len(pr.approved_by) == 0 and len(pr.changes_requested_by) == 0`, nil,
			[]githubtest.Review{
				review("mallory", "CONTRIBUTOR", "APPROVED"), review("trudy", "NONE", "CHANGES_REQUESTED"),
				review("", "MEMBER", "APPROVED"), review("alice", "MEMBER", "PENDING"),
			}, true, "GET reviews, ", "",
		},
		{"the author", `author.issues == 1 and author.pulls == 2`, nil, nil, true, "GET issues, ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, _, o := world(t, "rules:\n  - {id: r, on: [pull_request.opened], when: '"+tt.when+"', then: [escalate]}\n")
			repo := gh.Repo("o/r")
			for n := 2; n <= 9; n++ { // u opened 2 and 6 before as pull requests, 4 as an issue, and 8 after
				author := "u"
				if n%2 == 1 {
					author = "mona"
				}
				repo.AddIssue(githubtest.Issue{Number: n, Author: author, PullRequest: n != 4, State: "closed"})
			}
			repo.AddIssue(githubtest.Issue{Number: 17, Author: "u"})
			repo.AddIssue(githubtest.Issue{Number: 1, Author: "someone", PullRequest: true})
			repo.AddIssue(githubtest.Issue{Number: 27, Author: "u", PullRequest: true, Commits: tt.commits, Reviews: tt.reviews})
			number, commits := 27, len(tt.commits)
			switch tt.name {
			case "the author":
				number = 7
			case "fewer since a later push":
				commits = 9
			}
			e, err := triage.ParseEvent(triage.EventSource{Name: "pull_request", Payload: fmt.Appendf(nil, `{"action": "opened", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
				"pull_request": {"number": %d, "title": "T", "user": {"login": "U"}, "labels": [], "commits": %d, "created_at": "2026-04-10T12:00:00Z"}}`, number, commits)})
			if err != nil {
				t.Fatal(err)
			}
			rep, err := run(t, o, e)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("got the error %v, want %q", err, tt.err)
			}
			if fired := err == nil && len(rep.Fired()) == 1; fired != tt.fires {
				t.Errorf("fired is %t, want %t", fired, tt.fires)
			}
			var got strings.Builder
			for _, c := range gh.Calls() {
				got.WriteString(c.Method + " " + c.Path[strings.LastIndexByte(c.Path, '/')+1:] + ", ")
			}
			if got.String() != tt.calls {
				t.Errorf("got the calls %s, want %s", got.String(), tt.calls)
			}
		})
	}
}
