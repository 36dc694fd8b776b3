package runner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestLookups checks that data which rules need in addition to the event is looked up once, and
// only if a rule needs it.
func TestLookups(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, when, calls string }{
		{"nothing", `issue.locked and actor.permission == "admin"`, ""},
		{"permission", `actor.permission == "write" and actor.permission != "read" and label_age("bug") < duration("1h")`, "GET permission, GET timeline, "},
		{"timeline", `last_human().login == "mona" and idle() < duration("1h") and removed_by_human("docs") and not added_by_us("bug")`, "GET timeline, "},
		{"memory", `memory.tasks == 1 and memory.comments == 1 and memory.labels == ["docs", "triage"]`, "GET timeline, "},
		{"no files of an issue", `not any_file("**")`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "rules:\n  - id: r\n    on: issues.opened\n    when: |\n      "+tt.when+"\n    then: [escalate]\n")
			o.Live = false
			gh.Repo("Codertocat/Hello-World").SetPermission("Codertocat", "write").
				UnlabelAs("mona", 1, "bug").LabelAs("mona", 1, "bug").
				LabelAs("github-actions[bot]", 1, "docs").UnlabelAs("mona", 1, "docs")
			store, err := file.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r := memory.Record{Repo: "Codertocat/Hello-World", Issue: 1}
			r.Put(memory.Task{ID: "an-earlier-one", At: o.Clock.Now().Add(-time.Hour), Actions: []memory.Action{
				{Type: "comment", Result: triage.Done}, {Index: 1, Type: "add_label", Values: []string{"docs"}, Result: triage.Done},
				{Index: 2, Type: "add_labels", Values: []string{"triage"}, Result: triage.Done}, {Index: 3, Type: "comment", Result: triage.Failed},
			}})
			r.Put(memory.Task{ID: runTask, At: o.Clock.Now().Add(-time.Hour), Actions: []memory.Action{{Type: "comment", Result: triage.Done}}})
			if err := store.Save(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			keepIn(&o, store)
			rep, err := run(t, o, e)
			fired := len(rep.Fired()) == 1
			if err != nil || fired != (tt.name != "nothing") {
				t.Fatalf("got %v, fired %v", err, fired)
			}
			var calls strings.Builder
			for _, c := range gh.Calls() {
				calls.WriteString(c.Method + " " + c.Path[strings.LastIndexByte(c.Path, '/')+1:] + ", ")
			}
			if calls.String() != tt.calls {
				t.Errorf("got the calls %s, want %s", calls.String(), tt.calls)
			}
		})
	}
}

// TestExplainReadsNothing checks that the explanation of rules uses the data that the rules have read,
// and reads no more.
func TestExplainReadsNothing(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, on, when, calls string }{
		{"permission", "issues.opened", `actor.permission == "write"`, "GET permission, "},
		{"timeline", "issues.opened", `label_age("bug") < duration("1h")`, "GET timeline, "},
		{"memory", "issues.opened", `memory.tasks == 0`, "GET timeline, "},
		{"author", "issues.opened", `author.issues == 0`, "GET issues, "},
		{"merged pulls", "issues.opened", `author.merged_pulls == 0 and author.closed_pulls == 0`, "GET issues, "},
		{"account", "issues.opened", `author.created_at < now`, "GET Codertocat, "},
		{"contribution", "issues.opened", `contrib.score >= 0`, "GET issues, "},
		{"pull request", "issue_comment.created", `pr.commits == 1`, "GET 7, "},
		{"files", "issue_comment.created", `not any_file("x")`, "GET files, "},
		{"messages", "issue_comment.created", `len(pr.commit_messages) == 1`, "GET commits, "},
		{"reviews", "issue_comment.created", `len(pr.approved_by) == 0`, "GET reviews, "},
	}
	for _, tt := range tests {
		for idle, when := range map[bool]string{false: tt.when, true: "issue.number == 0 and " + tt.when} {
			t.Run(fmt.Sprintf("%s, idle %t", tt.name, idle), func(t *testing.T) {
				t.Parallel()
				gh, e, o := world(t, "rules:\n  - id: r\n    on: "+tt.on+"\n    when: |\n      "+when+"\n    then: [escalate]\n")
				o.Live, o.Explain = false, true
				keepIn(&o, memory.New())
				gh.Repo(repoName).SetPermission("Codertocat", "write").LabelAs("mona", 1, "docs")
				gh.SetAccount(githubtest.Account{Login: e.Issue.Author, ID: e.Issue.AuthorID, CreatedAt: e.Issue.CreatedAt.AddDate(-1, 0, 0)})
				gh.Repo("o/r").AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Commits: []string{"fix: a"}})
				if tt.on != "issues.opened" {
					e = commentOn(t, `, "pull_request": {}`)
				}
				gh.ResetCalls()
				rep, err := run(t, o, e)
				if err != nil || len(rep.Why) != 1 || rep.Why[0].Why == nil {
					t.Fatalf("got %v, %+v", err, rep.Why)
				}
				var calls strings.Builder
				for _, c := range gh.Calls() {
					calls.WriteString(c.Method + " " + c.Path[strings.LastIndexByte(c.Path, '/')+1:] + ", ")
				}
				want, why := tt.calls, *rep.Why[0].Why
				if idle {
					want, why = "", why.Parts[1]
				}
				if calls.String() != want || (why.Value == "true") == idle || idle && !strings.Contains(fmt.Sprint(why), facts.ErrUnasked.Error()) {
					t.Errorf("got the calls %s, want %s; the explanation is %+v", calls.String(), want, why)
				}
			})
		}
	}
}

// TestLookupFails checks that a failed look-up fails its rule and the run, and that the other rules
// act.
func TestLookupFails(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `rules:
  - {id: a, on: issues.opened, then: [add_label: triage]}
  - {id: b, on: issues.opened, when: 'actor.permission == "write"', then: [add_label: docs]}
`)
	gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/Codertocat/Hello-World/collaborators/Codertocat/permission", Status: 403, Times: 9})
	rep, err := run(t, o, e)
	failed, ok := errors.AsType[*rules.EvalError](err)
	if !ok || failed.Rule != "b" || !strings.Contains(err.Error(), "look up the permission") {
		t.Errorf("got %v, want an error of rule b", err)
	}
	if labels := gh.Issue("Codertocat/Hello-World", 1).Labels; !slices.Equal(labels, []string{"bug", "triage"}) || rep.Status != runner.StatusPartial || rep.Reason != err.Error() {
		t.Errorf("got the labels %v, the status %s because of %q", labels, rep.Status, rep.Reason)
	}
	o.Host = runner.Host{}
	o.DryRun = true
	if rep, err = run(t, o, e); err != nil || rep.Status != runner.StatusIncomplete || !slices.Equal(rep.Fired(), []string{"a"}) {
		t.Errorf("without a host: got %v, %s, %v", err, rep.Status, rep.Fired())
	}
}

// TestRulesSeeWhatWillBe checks that other rules do not see a label that will not really be added.
func TestRulesSeeWhatWillBe(t *testing.T) {
	t.Parallel()
	const rest = `
rules:
  - {id: a, on: issues.edited, then: [add_label: docs]}
  - {id: b, on: issues.edited, when: label("docs"), then: [comment: it is docs]}
`
	tests := []struct {
		name, config string
		live         bool // whether rule b's comment is posted
		before       func(*githubtest.Repo)
	}{
		{"there", rest, true, nil},
		{"people took it off", rest, false, func(r *githubtest.Repo) { r.LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "docs") }},
		{"people overridden", strings.Replace(rest, "id: a,", "id: a, override_humans: true,", 1), true, func(r *githubtest.Repo) {
			r.LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "docs")
		}},
		{"people took it off under its earlier name", strings.ReplaceAll(rest, "docs", "manual"), false, func(r *githubtest.Repo) {
			r.AddLabel("manual").LabelAs("github-actions[bot]", 1, "guide").UnlabelAs("mona", 1, "guide") // guide is deleted below
		}},
		{"people took another label off", rest, true, func(r *githubtest.Repo) {
			r.AddLabel("manual").LabelAs("github-actions[bot]", 1, "manual").UnlabelAs("mona", 1, "manual")
		}},
		{"together, and the policy forbids the rest", strings.Replace(rest, "then: [add_label: docs]", "together: true, then: [add_label: docs, close_issue: completed]", 1), false, nil},
		{"together, and people took one off", strings.Replace(rest, "then: [add_label: docs]", "together: true, then: [add_label: docs, add_label: triage]", 1), false,
			func(r *githubtest.Repo) { r.LabelAs("mona", 1, "triage").UnlabelAs("mona", 1, "triage") }},
		{"together, and a part is empty", strings.Replace(rest, "then: [add_label: docs]", "together: true, then: [add_label: docs, comment: '{{ first(issue.assignees) }}']", 1), false, nil},
		{"together", "policy: {allow_close: true}" + strings.Replace(rest, "then: [add_label: docs]", "together: true, then: [add_label: docs, close_issue: completed]", 1), true, nil},
		{"a group that is dropped uses no limit", "policy: {limits: {add_label: 1}}" + strings.Replace(rest, "rules:\n", "rules:\n  - {id: g, on: issues.edited, together: true, then: [add_label: triage, close_issue: completed]}\n", 1), true, nil},
		{"denied", "policy: {labels: {deny: [docs]}}" + rest, false, nil},
		{"no action", "policy: {actions: [comment]}" + rest, false, nil},
		{"no limit left", "policy: {limits: {add_label: 0}}" + rest, false, nil},
		{"of no repository", strings.ReplaceAll(rest, "docs", "absent"), false, nil},
		{"created", "policy: {create_labels: true}" + strings.ReplaceAll(rest, "docs", "absent"), true, nil},
		{"kept by people", strings.ReplaceAll(strings.ReplaceAll(rest, "add_label: docs", "remove_label: bug"), `label("docs")`, `not label("bug")`), false,
			func(r *githubtest.Repo) { r.UnlabelAs("mona", 1, "bug").LabelAs("mona", 1, "bug") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			e.Action = "edited"
			if tt.before != nil {
				tt.before(gh.Repo("Codertocat/Hello-World"))
				gh.DeleteLabel("Codertocat/Hello-World", "guide")
			}
			rep, err := run(t, o, e)
			i := gh.Issue("Codertocat/Hello-World", 1)
			if err != nil || (len(i.Comments) == 1) != tt.live {
				t.Errorf("got %v, %d comments, fired %v", err, len(i.Comments), rep.Fired())
			}
			lookups := 0
			for _, c := range gh.Calls() {
				if strings.HasSuffix(c.Path, "/timeline") || strings.Contains(c.Path, "/hello-world/labels/") || strings.Contains(c.Path, "/Hello-World/labels/") {
					lookups++
				}
			}
			if lookups > 2 {
				t.Errorf("%d look-ups, want the timeline and the label once: %v", lookups, gh.Log())
			}
		})
	}
}

// TestFailedLookupsOfLabels checks that a decision makes no call for each rule with a label if GitHub
// refuses them.
func TestFailedLookupsOfLabels(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 16} {
		var config strings.Builder
		config.WriteString("\nrules:\n")
		for i := range n {
			fmt.Fprintf(&config, "  - {id: r%d, on: issues.edited, when: not label(\"x\"), then: [add_label: l%d]}\n", i, i)
		}
		gh, e, o := world(t, config.String())
		e.Action = "edited"
		for _, path := range []string{"/repos/*/*/labels", "/repos/*/*/labels/*"} {
			gh.Fault(githubtest.Fault{Method: "GET", Path: path, Status: 403, Times: -1, Body: `{"message":"Resource not accessible by integration"}`})
		}
		if rep, err := run(t, o, e); err == nil || len(rep.Fired()) != n {
			t.Errorf("got %v, fired %v", err, rep.Fired())
		}
		got := 0
		for _, c := range gh.Calls() {
			if strings.Contains(c.Path, "/labels") {
				got++
			}
		}
		if got == 0 || got > 2 {
			t.Errorf("%d rules made %d calls for labels, want one for the decision and one for the review: %v", n, got, gh.Log())
		}
	}
}

// TestFailedRuleUsesNoLimit checks that other rules decide as if a rule that failed were not there.
func TestFailedRuleUsesNoLimit(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `
policy: {limits: {add_label: 1}}
rules:
  - {id: fails, on: issues.edited, then: [add_label: triage, comment: '{{ int(issue.title) }}']}
  - {id: a, on: issues.edited, then: [add_label: docs]}
  - {id: b, on: issues.edited, when: label("docs"), then: [comment: it is docs]}
`)
	e.Action = "edited"
	rep, err := run(t, o, e)
	if i := gh.Issue(repoName, 1); err == nil || !slices.Equal(i.Labels, []string{"bug", "docs"}) || len(i.Comments) != 1 {
		t.Errorf("got %v, %q, %d comments: %+v", err, i.Labels, len(i.Comments), rep.Actions)
	}
}

// TestAgentSeesWhatRulesDid checks that the agent decides after the rules, and receives their
// changes.
func TestAgentSeesWhatRulesDid(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]int{"docs": 0, "absent": 1} {
		_, e, o := world(t, "agent: {when: not label(\""+label+"\")}\nrules:\n  - {id: a, on: issues.opened, then: [add_label: "+label+"]}\n")
		asked := 0
		o.Agent.Agent = answers(&asked, "skip")
		if _, err := run(t, o, e); err != nil || asked != want {
			t.Errorf("%s: got %v, asked %d times, want %d", label, err, asked, want)
		}
	}
}

// TestOnceBesideOpening: a form that sets labels causes two events at the same time. The second run
// must find the comment of the first one.
func TestOnceBesideOpening(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: a, on: [issues.opened, issues.labeled], then: [comment: {once: hi, body: Hello}]}\n")
	e.Action = "labeled"
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	e.Action, o.Task.ID = "opened", "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
	if _, err := run(t, o, e); err != nil || len(gh.Issue("Codertocat/Hello-World", 1).Comments) != 1 {
		t.Errorf("got %v, %d comments", err, len(gh.Issue("Codertocat/Hello-World", 1).Comments))
	}
}

// TestOnceDeleted checks that a once-only comment is not posted again after somebody deleted it.
func TestOnceDeleted(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: a, on: [issues.opened, issues.edited], then: [comment: {once: hi, body: Hello}]}\n")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	const repo = "Codertocat/Hello-World"
	gh.Repo(repo).DeleteComment(gh.Issue(repo, 1).Comments[0].ID)
	o.Task.ID, e.Action = "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", "edited"
	rep, err := run(t, o, e)
	if err != nil || len(gh.Issue(repo, 1).Comments) != 0 || !strings.Contains(rep.Actions[0].Reason, "deleted since (once: hi)") {
		t.Errorf("got %v, %d comments, %+v", err, len(gh.Issue(repo, 1).Comments), rep.Actions)
	}
}

// TestOtherLogin checks that the memory knows our comments under the token of a person, although
// bot-login is the default. The report does not say that somebody deleted them.
func TestOtherLogin(t *testing.T) {
	t.Parallel()
	const repo = "Codertocat/Hello-World"
	_, e, o := world(t, "rules:\n  - {id: a, on: [issues.edited], then: [update_comment: {key: k, body: 'Title: {{ issue.title }}'}, comment: {once: hi, body: Hello}]}\n")
	gh := githubtest.New(t, githubtest.Config{Login: "octo-machine"})
	gh.Repo(repo).AddIssue(githubtest.Issue{Number: 1, CreatedAt: e.Issue.CreatedAt})
	host, err := github.New(github.Options{BaseURL: gh.URL, Token: "t", Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	o.Host = runner.HostOf(host)
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	e.Action = "edited"
	for _, id := range []string{"b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5e", "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5f"} {
		o.Task.ID, e.Issue.Title = id, id
		rep, err := run(t, o, e)
		if err != nil || strings.Contains(fmt.Sprint(rep.Actions), "deleted since") || !strings.Contains(strings.Join(rep.Warnings, "\n"), `set the input bot-login to "octo-machine"`) {
			t.Errorf("got %v, %+v, the warnings %q", err, rep.Actions, rep.Warnings)
		}
	}
	if n := len(gh.Issue(repo, 1).Comments); n != 2 {
		t.Errorf("got %d comments, want 2", n)
	}
}

// TestChangedFiles checks that the old path of a moved file counts, too. If a pull request has more
// files than GitHub lists, conditions about its files fail.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	moved := map[string]string{"docs/auth.md": "src/auth.go"}
	docs := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("docs/%04d.md", i))
		}
		return list
	}
	tests := []struct {
		name, when string
		files      []string
		changed    int // number of files in the event
		fires      bool
		err        string
	}{
		{"moved, all", `all_files("docs/**")`, []string{"docs/auth.md"}, 1, false, ""},
		{"moved, any", `any_file("src/**")`, []string{"docs/auth.md"}, 1, true, ""},
		{"fewer since a later push", `all_files("docs/**")`, docs(2), 5, true, ""},
		{"most", `all_files("docs/**")`, docs(3000), 3000, true, ""},
		{"more", `all_files("docs/**")`, docs(3001), 3001, false, "lists 3000 of the 3001"},
		{"more, any", `any_file("src/**")`, append(docs(3000), "src/a.go"), 3001, false, "never more than 3,000"},
		{"more, not asked", `pr.changed_files > 3000`, docs(3001), 3001, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, _, o := world(t, "rules:\n  - {id: r, on: [pull_request.opened], when: '"+tt.when+"', then: [add_label: docs]}\n")
			gh.Repo("o/r").AddLabel("docs").AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Files: tt.files, Moved: moved})
			e, err := triage.ParseEvent(triage.EventSource{Name: "pull_request", Payload: fmt.Appendf(nil, `{"action": "opened", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
				"pull_request": {"number": 7, "title": "T", "user": {"login": "u"}, "labels": [], "changed_files": %d, "created_at": "2026-04-10T12:00:00Z"}}`, tt.changed)})
			if err != nil {
				t.Fatal(err)
			}
			rep, err := run(t, o, e)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("got the error %v, want %q", err, tt.err)
			}
			if labelled := len(gh.Issue("o/r", 7).Labels) == 1; labelled != tt.fires {
				t.Errorf("labelled is %t, want %t: %+v", labelled, tt.fires, rep.Rules)
			}
		})
	}
}

// TestChangedFilesAfterAComment checks that after a comment event the number of files is looked up
// only if the list may be incomplete. An issue has no files.
func TestChangedFilesAfterAComment(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]string{2999: "", 3000: "", 3001: "lists 3000 of the 3001"} {
		gh, _, o := world(t, "rules:\n  - {id: r, on: [issue_comment.created], when: 'any_file(\"docs/**\")', then: [add_label: docs]}\n")
		in := githubtest.Issue{Number: 7, PullRequest: true}
		for i := range files {
			in.Files = append(in.Files, fmt.Sprintf("docs/%04d.md", i))
		}
		gh.Repo("o/r").AddLabel("docs").AddIssue(in)
		_, err := run(t, o, commentOn(t, `, "pull_request": {}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d files: got the error %v, want %q", files, err, want)
		}
		if asked := slices.Contains(gh.Log(), "GET /repos/o/r/pulls/7 200"); asked != (files >= 3000) {
			t.Errorf("%d files: asked for the pull request is %t", files, asked)
		}
	}
	gh, _, o := world(t, "rules:\n  - {id: r, on: [issue_comment.created], when: 'any_file(\"**\") or pr.commits > 0 or len(pr.reviewers) > 0', then: [add_label: docs]}\n")
	gh.Repo("o/r").AddIssue(githubtest.Issue{Number: 7})
	if _, err := run(t, o, commentOn(t, "")); err != nil || len(gh.Log()) > 0 {
		t.Errorf("an issue: got %v after %v", err, gh.Log())
	}
}

// TestCommitOfTheFuture checks that a commit with a date in the future, which its author can set
// freely, does not count as activity.
func TestCommitOfTheFuture(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "rules:\n  - {id: r, on: [issue_comment.created], when: last_human().at > date(\"2098-01-01\") or last_human().login != \"hubot\", then: [add_label: docs]}\n")
	gh.Repo("o/r").AddLabel("docs").AddIssue(githubtest.Issue{Number: 7, PullRequest: true}).ReviewAs("hubot", 7, "x").
		PushAs("mallory", 7, time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC))
	e := commentOn(t, `, "pull_request": {}`)
	e.Sender.Type = "Bot"
	if _, err := run(t, o, e); err != nil || len(gh.Issue("o/r", 7).Labels) > 0 {
		t.Errorf("got %v, labels %q", err, gh.Issue("o/r", 7).Labels)
	}
}

// commentOn returns the event of a comment on issue 7. more is JSON for further fields of the
// issue.
func commentOn(t *testing.T, more string) triage.Delivery {
	t.Helper()
	e, err := triage.ParseEvent(triage.EventSource{Name: "issue_comment", Payload: []byte(`{"action": "created", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
		"comment": {"id": 1, "body": "x", "user": {"login": "u"}}, "issue": {"number": 7, "title": "T", "user": {"login": "u"}, "created_at": "2026-04-10T12:00:00Z"` + more + `}}`)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPullRequest checks that rules can listen to pull requests and read the changed files.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pull_request", "pull_request_target"} {
		gh, _, o := world(t, `rules:
  - {id: src, on: [pull_request.opened], when: 'any_file("src/**") and pr.base == "main"', then: [add_label: docs, comment: Hi]}
  - {id: issue, on: [issues.opened], then: [add_label: triage]}
`)
		gh.Repo("o/r").AddLabel("docs").AddIssue(githubtest.Issue{Number: 7, PullRequest: true, Files: []string{"README.md", "src/a/b.go"}})
		e, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: []byte(`{"action": "opened", "repository": {"full_name": "o/r"}, "sender": {"login": "u"},
			"pull_request": {"number": 7, "title": "T", "user": {"login": "u"}, "labels": [], "base": {"ref": "main"}, "created_at": "2026-04-10T12:00:00Z"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := run(t, o, e)
		if err != nil || strings.Join(rep.Fired(), " ") != "src" {
			t.Fatalf("%s: got %v, %+v", name, err, rep)
		}
		if i := gh.Issue("o/r", 7); strings.Join(i.Labels, " ") != "docs" || len(i.Comments) != 1 {
			t.Errorf("%s: got %v and %d comments", name, i.Labels, len(i.Comments))
		}
	}
}

// TestRulesAfterAFailure: rules after one that fails are evaluated, and explained without further
// look-ups.
func TestRulesAfterAFailure(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]rules.Outcome{
		`actor.permission == "write"`:       rules.False,
		`label_age("new") > duration("1h")`: rules.Unknown,
		`memory.tasks == 0`:                 rules.Matched,
		`issue.locked`:                      rules.False,
	} {
		gh, e, o := world(t, "rules:\n  - {id: fails, on: issues.edited, when: 'issue.labels[5] == \"x\"', else_undo: true, then: [add_label: docs]}\n  - {id: next, on: issues.edited, when: '"+when+"', then: [add_label: triage]}\n")
		e.Action, o.Explain = "edited", true
		e.Issue.Labels = append(e.Issue.Labels, "new") // a renamed label: the timeline does not have it
		rep, err := run(t, o, e)
		if err == nil || len(rep.Why) != 2 || rep.Why[0].Error == "" || rep.Why[0].Outcome != rules.Failed {
			t.Fatalf("%s: got %v, %+v", when, err, rep.Why)
		}
		next := rep.Why[1]
		if next.Outcome != want || (next.Error != "") != (want == rules.Unknown) || next.Why.Idle {
			t.Errorf("%s: got %q, the error %q, idle %v, want %q", when, next.Outcome, next.Error, next.Why.Idle, want)
		}
		status := runner.StatusFailed
		if want == rules.Matched {
			status = runner.StatusPartial
		}
		if added := slices.Contains(gh.Issue("Codertocat/Hello-World", 1).Labels, "triage"); added != (want == rules.Matched) || rep.Status != status {
			t.Errorf("%s: the label was added: %v, status %s", when, added, rep.Status)
		}
	}
}

// TestAgentAndFailures checks when an agent is asked beside a rule that fails, and beside a condition
// of its own that cannot be judged.
func TestAgentAndFailures(t *testing.T) {
	t.Parallel()
	const fails, unknown = `issue.labels[9] == \"x\"`, `label_age(\"new\") > duration(\"1h\")`
	tests := []struct {
		name, rule, when string
		asked            bool
		status           runner.Status
		warning          string
	}{
		{"all is well", "false", "true", true, runner.StatusApplied, ""},
		{"a rule fails", fails, "true", false, runner.StatusPartial, ""},
		{"a rule is unknown", unknown, "true", true, runner.StatusApplied, "did nothing: r"},
		{"agent.when fails", "false", fails, false, runner.StatusPartial, ""},
		{"agent.when is unknown", "false", unknown, false, runner.StatusApplied, "the agent was not asked"},
	}
	for _, tt := range tests {
		_, e, o := world(t, "agent: {url: 'http://agent', when: \""+tt.when+"\"}\nrules:\n  - {id: r, on: issues.edited, when: \""+tt.rule+"\", then: [add_label: triage]}\n  - {id: good, on: issues.edited, then: [add_label: docs]}\n")
		asked := 0
		o.Agent.Agent = answers(&asked, "skip")
		e.Action = "edited"
		e.Issue.Labels = append(e.Issue.Labels, "new")
		rep, err := run(t, o, e)
		if (asked > 0) != tt.asked || rep.Status != tt.status || (err != nil) != (tt.status == runner.StatusPartial) || !strings.Contains(strings.Join(rep.Warnings, "\n"), tt.warning) {
			t.Errorf("%s: asked %d times, status %s, error %v, warnings %q", tt.name, asked, rep.Status, err, rep.Warnings)
		}
	}
}
