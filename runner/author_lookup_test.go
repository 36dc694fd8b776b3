package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// An authorCase is a condition on the author of issue 500, what GitHub knows about the author, and
// the expected result.
type authorCase struct {
	name, when string
	user       string // the JSON of the author; empty: mona with the number 7
	age        time.Duration
	setup      func(gh *githubtest.Server, r *githubtest.Repo)
	outcome    string // "fired", "not fired", or a part of the warning or of the error
	calls      string
}

// authorAt is the time of the runs.
func authorAt() time.Time { return time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC) }

// joined sets the time at which mona joined.
func joined(at time.Time) func(*githubtest.Server, *githubtest.Repo) {
	return func(gh *githubtest.Server, _ *githubtest.Repo) {
		gh.SetAccount(githubtest.Account{Login: "Mona", ID: 7, CreatedAt: at})
	}
}

// counts are the numbers of pull requests in each state.
type counts struct{ merged, closed, open int }

// pulls adds pull requests of an author, from the number first.
func pulls(r *githubtest.Repo, author string, first int, n counts) {
	for i := range n.merged + n.closed + n.open {
		in := githubtest.Issue{Number: first + i, Author: author, PullRequest: true, State: "closed", Merged: i < n.merged, CreatedAt: authorAt().Add(-time.Hour)}
		if i >= n.merged+n.closed {
			in.State = "open"
		}
		r.AddIssue(in)
	}
}

// some returns a setup with pull requests of mona.
func some(merged, closed, open int) func(*githubtest.Server, *githubtest.Repo) {
	return func(_ *githubtest.Server, r *githubtest.Repo) {
		pulls(r, "mona", 1, counts{merged, closed, open})
		pulls(r, "other", 201, counts{3, 3, 3})
	}
}

func authorCases() []authorCase {
	const (
		list, user, search = "GET issues, ", "GET mona, ", "GET issues, GET /search/issues, "
		isNew              = `now - author.created_at < duration("7d")`
		none               = `author.merged_pulls == 0 and author.closed_pulls == 0`
		app                = `{"login": "robot[bot]", "id": 9, "type": "Bot"}`
	)
	at := authorAt()
	day := 24 * time.Hour
	var cases []authorCase
	add := func(c ...authorCase) { cases = append(cases, c...) }
	add(
		authorCase{name: "not asked", when: `issue.number == 1 and ` + isNew, outcome: "not fired"},
		authorCase{name: "a new account", when: isNew + " and " + isNew, setup: joined(at.Add(-6 * day)), outcome: "fired", calls: user},
		authorCase{name: "a week ago", when: isNew, setup: joined(at.Add(-7 * day)), outcome: "not fired", calls: user},
		authorCase{name: "a date", when: `author.created_at < date("2020-01-01")`, setup: joined(at.AddDate(-8, 0, 0)), outcome: "fired", calls: user},
		authorCase{name: "an App", when: "not (" + isNew + ")", user: app, outcome: "author.created_at is unknown: the author is an App"},
		authorCase{name: "an App by its login", when: "not (" + isNew + ")", user: `{"login": "robot[bot]"}`, outcome: "the author is an App"},
		authorCase{name: "a deleted account", when: "not (" + isNew + ")", user: `null`, outcome: "author.created_at is unknown: the account was deleted"},
		authorCase{name: "the account of deleted accounts", when: isNew, user: `{"login": "ghost", "id": 10137, "type": "User"}`, outcome: "the account was deleted"},
		authorCase{name: "no such account", when: "not (" + isNew + ") or " + isNew, outcome: `GitHub has no account "mona" any more`, calls: user},
		authorCase{name: "the login has a new owner", when: isNew, user: `{"login": "mona", "id": 8, "type": "User"}`, setup: joined(at.Add(-6 * day)), outcome: `the login "mona" belongs to another account now`, calls: user},
		authorCase{name: "an imported issue", when: isNew, age: 30 * day, setup: joined(at.Add(-6 * day)), outcome: "fired", calls: user},
		authorCase{name: "younger than the issue", when: isNew, user: `{"login": "mona"}`, age: 30 * day, setup: joined(at.Add(-6 * day)), outcome: "belongs to another account now", calls: user},
		authorCase{
			name: "no answer", when: "not (" + isNew + ")", outcome: `look up the account "mona" for o/r#500`, calls: user,
			setup: func(gh *githubtest.Server, _ *githubtest.Repo) {
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/users/mona", Status: 403, Times: -1, Body: `{"message":"Resource not accessible by integration"}`})
			},
		},
		authorCase{
			name: "limited", when: "not (" + isNew + ")", outcome: "rate limit", calls: user,
			setup: func(gh *githubtest.Server, _ *githubtest.Repo) {
				gh.Fault(githubtest.Fault{
					Method: "GET", Path: "/users/mona", Status: 403, Times: -1, Header: map[string]string{"Retry-After": "7200"},
					Body: `{"message":"API rate limit exceeded for installation"}`,
				})
			},
		},
		authorCase{
			name: "no time", when: "not (" + isNew + ")", outcome: "GitHub does not report it", calls: user,
			setup: func(gh *githubtest.Server, _ *githubtest.Repo) {
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/users/mona", Status: 200, Body: `{"login":"mona","id":7,"created_at":null}`})
			},
		},
		authorCase{
			name: "another answer", when: isNew, outcome: "GitHub has no account", calls: user,
			setup: func(gh *githubtest.Server, _ *githubtest.Repo) {
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/users/mona", Status: 200, Body: `{"login":"lisa","id":7,"created_at":"2026-04-09T00:00:00Z"}`})
			},
		},
		authorCase{name: "a login that is a path", when: isNew, user: `{"login": "../../repos/o/r", "id": 7}`, outcome: "GitHub has no account", calls: "GET ..%2F..%2Frepos%2Fo%2Fr, "},
		authorCase{name: "a login that is no path", when: isNew, user: `{"login": "..", "id": 7}`, outcome: "GitHub has no account"},

		authorCase{name: "none", when: none, outcome: "fired", calls: list},
		authorCase{name: "some", when: `author.merged_pulls == 2 and author.closed_pulls == 3 and author.pulls == 6 and author.issues == 0`, setup: some(2, 3, 1), outcome: "fired", calls: list},
		authorCase{name: "99", when: `author.merged_pulls == 60 and author.closed_pulls == 38`, setup: some(60, 38, 0), outcome: "fired", calls: list},
		authorCase{name: "100", when: `author.merged_pulls == 60 and author.merged_pulls > 59`, setup: some(60, 39, 0), outcome: "fired", calls: search},
		authorCase{name: "both of many", when: `author.merged_pulls == 70 and author.closed_pulls == 80`, setup: some(70, 80, 9), outcome: "fired", calls: search + "GET /search/issues, "},
		authorCase{
			name: "this one does not count", when: `author.merged_pulls == 1`, outcome: "fired", calls: list,
			setup: func(gh *githubtest.Server, r *githubtest.Repo) {
				some(1, 1, 1)(gh, r)
				r.AddIssue(githubtest.Issue{Number: 500, Author: "mona", PullRequest: true, State: "closed", Merged: true})
			},
		},
		authorCase{name: "later ones count", when: `author.merged_pulls == 1 and author.pulls == 0`, outcome: "fired", calls: list, setup: func(_ *githubtest.Server, r *githubtest.Repo) { pulls(r, "mona", 501, counts{1, 0, 0}) }},
		authorCase{name: "counts of a deleted account", when: "not (" + none + ") or " + none, user: `null`, outcome: "author.merged_pulls is unknown: the account was deleted"},
		authorCase{name: "a new issue that is not listed yet", when: none, age: time.Minute, outcome: "fired", calls: list, setup: func(_ *githubtest.Server, r *githubtest.Repo) { r.DeleteIssue(500) }},
		authorCase{
			name: "a renamed author", when: none, age: day, outcome: `author.merged_pulls is unknown: the login "mona" belongs to another account now`, calls: list,
			setup: func(_ *githubtest.Server, r *githubtest.Repo) { r.DeleteIssue(500) },
		},
		authorCase{
			name: "the pull requests of an App", when: `author.merged_pulls == 120`, user: app, outcome: "fired", calls: search,
			setup: func(_ *githubtest.Server, r *githubtest.Repo) { pulls(r, "robot[bot]", 1, counts{120, 0, 0}) },
		},
		authorCase{
			name: "an incomplete search", when: "not (author.closed_pulls > 0)", outcome: "author.closed_pulls is unknown: GitHub's search was incomplete", calls: search,
			setup: func(gh *githubtest.Server, r *githubtest.Repo) {
				some(0, 120, 0)(gh, r)
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/search/issues", Status: 200, Body: `{"total_count":7,"incomplete_results":true,"items":[]}`})
			},
		},
		authorCase{
			name: "a search that finds nothing", when: none, outcome: `GitHub's search does not find the pull requests of "mona"`, calls: search,
			setup: func(gh *githubtest.Server, r *githubtest.Repo) {
				some(120, 0, 0)(gh, r)
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/search/issues", Status: 200, Body: `{"total_count":0,"incomplete_results":false,"items":[]}`})
			},
		},
		authorCase{
			name: "a search that is late", when: `author.merged_pulls == 98`, outcome: "fired", calls: search,
			setup: func(gh *githubtest.Server, r *githubtest.Repo) {
				some(98, 3, 0)(gh, r)
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/search/issues", Status: 200, Body: `{"total_count":97,"incomplete_results":false,"items":[]}`})
			},
		},
		authorCase{
			name: "an account that cannot be searched", when: none, outcome: "422", calls: search,
			setup: func(gh *githubtest.Server, r *githubtest.Repo) {
				some(120, 0, 0)(gh, r)
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/search/issues", Status: 422, Times: -1, Body: `{"message":"Validation Failed"}`})
			},
		},
		authorCase{
			name: "a login that is a query", when: none, user: `{"login": "x OR author:y", "id": 7}`, outcome: `GitHub cannot search for the login "x OR author:y"`, calls: list,
			setup: func(_ *githubtest.Server, r *githubtest.Repo) { pulls(r, "x OR author:y", 1, counts{120, 0, 0}) },
		},
		authorCase{
			name: "no list", when: "not (" + none + ")", outcome: "list the issues of o/r", calls: list,
			setup: func(gh *githubtest.Server, _ *githubtest.Repo) {
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/o/r/issues", Status: 403, Times: -1, Body: `{"message":"Resource not accessible by integration"}`})
			},
		},
	)
	return cases
}

// TestAuthorLookups checks the facts of the author, each read once and only if a rule needs it. A
// value that is unknown makes the rule unknown; a failed call fails the rule.
func TestAuthorLookups(t *testing.T) {
	t.Parallel()
	for _, tt := range authorCases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, _, o := world(t, "rules:\n  - {id: r, on: [issues.opened], when: '"+strings.ReplaceAll(tt.when, "'", "''")+"', then: [escalate]}\n"+
				"  - {id: s, on: [issues.opened], when: '"+tt.when+"', then: [escalate]}\n")
			user := tt.user
			if user == "" {
				user = `{"login": "mona", "id": 7, "type": "User"}`
			}
			e, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: fmt.Appendf(nil, `{"action": "opened", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
				"issue": {"number": 500, "title": "T", "user": %s, "labels": [], "created_at": %q}}`, user, authorAt().Add(-tt.age).Format(time.RFC3339))})
			if err != nil {
				t.Fatal(err)
			}
			gh.Repo("o/r").AddIssue(githubtest.Issue{Number: 500, Author: e.Issue.Author})
			if tt.setup != nil {
				tt.setup(gh, gh.Repo("o/r"))
			}
			rep, err := run(t, o, e)
			got := fmt.Sprint(err, rep.Warnings)
			switch {
			case len(rep.Fired()) > 0:
				got = "fired"
			case err == nil && len(rep.Warnings) == 0:
				got = "not fired"
			}
			if !strings.Contains(got, tt.outcome) {
				t.Errorf("got %s, want %s", got, tt.outcome)
			}
			failed := strings.HasPrefix(tt.outcome, "list ") || strings.HasPrefix(tt.outcome, "look up") || tt.outcome == "422" || tt.outcome == "rate limit"
			if (err != nil) != failed {
				t.Errorf("got the error %v, want one: %t", err, failed)
			}
			var calls []string
			for _, c := range gh.Calls() {
				path := c.Path
				if !strings.HasPrefix(path, "/search") {
					path = path[strings.LastIndexByte(path, '/')+1:]
				}
				calls = append(calls, c.Method+" "+path+", ")
			}
			if failed { // both rules ask, and a call may be repeated
				calls = calls[:min(len(calls), strings.Count(tt.calls, ", "))]
			}
			if got := strings.Join(calls, ""); got != tt.calls {
				t.Errorf("got the calls %s, want %s", got, tt.calls)
			}
		})
	}
}
