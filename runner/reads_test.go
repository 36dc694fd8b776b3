package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A countingStore counts its loads and saves.
type countingStore struct {
	memory.Agenda

	loads, saves int
}

func (s *countingStore) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	s.loads++
	return s.Agenda.Load(ctx, repo, issue)
}

func (s *countingStore) Save(ctx context.Context, r memory.Record) error {
	s.saves++
	return s.Agenda.Save(ctx, r)
}

// A timelessHost is a host whose timelines cannot be read.
type timelessHost struct{ runner.Issues }

func (timelessHost) Timeline(context.Context, triage.Ref) (triage.Timeline, error) {
	return triage.Timeline{}, errors.New("no timeline today")
}

// TestSpared checks which calls and accesses of the memory a run does without.
func TestSpared(t *testing.T) {
	t.Parallel()
	const labels, label = "GET labels/docs", "POST issues/1/labels"
	adds := func(on string) string { return "rules:\n  - {id: r, on: " + on + ", then: [{add_label: docs}]}\n" }
	tests := []struct {
		name, config string
		change       func(*options, *triage.Delivery)
		calls        []string
		loads, saves int
	}{
		{"a new issue, its agent and its memory", "agent: {when: true}\n" + adds("issues.opened"), nil, []string{labels, label}, 0, 1},
		{"a new issue, a look-up", "rules:\n  - {id: r, on: issues.opened, when: 'idle() < duration(\"1h\")', then: [escalate]}\n", nil, nil, 0, 1},
		{
			"a new issue, a reversal", "rules:\n  - {id: r, on: issues.opened, when: 'false', else_undo: true, then: [{add_label: bug}]}\n", nil, nil, 0, 0,
		},
		{
			"one load", "agent: {when: true}\nrules:\n  - {id: r, on: issues.edited, then: [{never_again: docs}, {add_label: triage}]}\n",
			func(_ *options, e *triage.Delivery) { e.Action = "edited" },
			[]string{"GET issues/1/timeline", "GET issues/1", "GET issues/1/timeline", "GET labels/triage", "POST issues/1/labels"}, 2, 1,
		},
		{
			"a memory that this run cannot fill", adds("issues.edited"),
			func(o *options, e *triage.Delivery) {
				o.Memory.Implicit, o.Memory.ReadOnly, e.Action = true, true, "edited"
			}, []string{"GET issues/1/timeline", labels, "GET issues/1", label}, 0, 0,
		},
		{"nothing decided", adds("issues.closed"), nil, nil, 0, 0},
		{
			"a removed label", "rules:\n  - {id: r, on: issues.opened, then: [{remove_label: bug}]}\n  - {id: s, on: issues.opened, when: 'not any_label(\"bug\")', then: [escalate]}\n", nil, nil, 0, 1,
		},
		{
			"a reversal without a memory", "rules:\n  - {id: r, on: issues.edited, when: 'false', else_undo: true, then: [{add_label: bug}]}\n",
			func(o *options, e *triage.Delivery) { o.Memory, e.Action = runner.Memory{}, "edited" }, nil, 0, 0,
		},
		{
			"the author's account is deleted", "rules:\n  - {id: r, on: issues.opened, when: 'author.issues == 0', then: [escalate]}\n",
			func(_ *options, e *triage.Delivery) { e.Issue.Author = "" }, nil, 0, 1,
		},
		{"commits of an issue", "rules:\n  - {id: r, on: issues.opened, when: 'len(pr.commit_messages) == 0', then: [escalate]}\n", nil, nil, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			store, asked := &countingStore{Agenda: memory.New()}, 0
			keepIn(&o, store)
			if strings.HasPrefix(tt.config, "agent:") {
				o.Agent.Agent = answers(&asked, protocol.Skip)
			}
			if tt.change != nil {
				tt.change(&o, &e)
			}
			rep, err := run(t, o, e)
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, c := range gh.Calls() {
				calls = append(calls, c.Method+" "+strings.TrimPrefix(c.Path, "/repos/"+repoName+"/"))
			}
			if !slices.Equal(calls, tt.calls) || store.loads != tt.loads || store.saves != tt.saves {
				t.Errorf("got the calls %q, %d loads, %d saves; want %q, %d, %d: %+v", calls, store.loads, store.saves, tt.calls, tt.loads, tt.saves, rep)
			}
		})
	}
}

// TestNewPullRequest checks that nothing is read for a pull request that was just opened.
func TestNewPullRequest(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "rules:\n  - {id: r, on: pull_request.opened, when: 'idle() < duration(\"1h\")', then: [escalate]}\n")
	if rep, err := run(t, o, pullOpened(t, o.Clock.Now())); err != nil || len(rep.Fired()) != 1 || len(gh.Log()) > 0 {
		t.Errorf("got %v, %+v, calls %q", err, rep.Rules, gh.Log())
	}
}

// TestNoTokenLookups checks that a rule whose look-up nobody can answer is undecided.
func TestNoTokenLookups(t *testing.T) {
	t.Parallel()
	for when, missing := range map[string]string{
		"author.issues == 0": "author.issues", "author.created_at < now": "author.created_at", "author.merged_pulls == 0": "author.merged_pulls",
		"contrib.score > 0": "contrib.score", `actor.permission == "admin"`: "actor.permission", `removed_by_human("docs") or idle() > duration("1h")`: "past",
		"pr.commits == 1": "pr.commits", `any_file("x")`: "pr.files", "len(pr.commit_messages) == 1": "pr.commit_messages", "len(pr.approved_by) == 0": "pr.approved_by",
	} {
		on := "issues.opened"
		comment := strings.HasPrefix(missing, "pr.") || missing == "past"
		if comment {
			on = "issue_comment.created"
		}
		_, e, o := world(t, "rules:\n  - id: r\n    on: "+on+"\n    when: |\n      "+when+"\n    then: [escalate]\n")
		if comment {
			e = commentOn(t, `, "pull_request": {}`)
		}
		o.Host, o.DryRun = runner.Host{}, true
		rep, err := run(t, o, e)
		if err != nil || len(rep.Fired()) > 0 || rep.Status != runner.StatusIncomplete || len(rep.Undecided) != 1 || !slices.Equal(rep.Undecided[0].Missing, []string{missing}) {
			t.Errorf("%s: got %v, %s, %+v", when, err, rep.Status, rep.Undecided)
		}
	}
}

// TestNoTokenMemory checks that a dry run without a token does not warn that the memory lacks the
// timeline.
func TestNoTokenMemory(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	keepIn(&o, memory.New())
	asked := 0
	o.Agent.Agent, e.Action = answers(&asked, protocol.Skip), "edited"
	o.Host, o.DryRun = runner.Host{}, true
	if rep, err := run(t, o, e); err != nil || asked != 1 || len(rep.Warnings) > 0 {
		t.Errorf("got %v, asked %d times, warnings %q", err, asked, rep.Warnings)
	}
}

// TestReversals checks which labels stay although the condition of their rule became false.
func TestReversals(t *testing.T) {
	t.Parallel()
	const a = "rules:\n  - {id: a, on: [issues.edited, issues.closed], when: 'event.action == \"edited\"', else_undo: true, then: [{add_label: docs}]}\n"
	override := strings.Replace(a, "else_undo", "override_humans: true, else_undo", 1)
	tests := []struct {
		name, config, labels string
		actions              int
		change               func(*options)
	}{
		{"reverted", a, "bug", 1, nil},
		{"another rule escalates", a + "  - {id: b, on: issues.closed, then: [escalate]}\n", "bug docs", 0, nil},
		{"another rule adds it", a + "  - {id: b, on: issues.closed, then: [{add_label: docs}]}\n", "bug docs", 1, nil},
		{"another rule removes it", a + "  - {id: b, on: issues.closed, then: [{remove_label: docs}]}\n", "bug", 1, nil},
		{"a failed rule adds it", a + "  - {id: b, on: issues.closed, when: 'int(issue.title) > 3', then: [{add_label: docs}]}\n", "bug docs", 0, nil},
		{"a failed rule adds it, and people are overridden", override + "  - {id: b, on: issues.closed, when: 'int(issue.title) > 3', then: [{add_label: docs}]}\n", "bug docs", 0, nil},
		{"two rules remove it, and people are overridden", override + strings.ReplaceAll(strings.TrimPrefix(override, "rules:\n"), "id: a", "id: b"), "bug", 1, nil},
		{"the timeline cannot be read", a, "bug docs", 0, func(o *options) { o.Host.Issues = timelessHost{o.Host.Issues} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newUndoWorld(t, tt.config)
			w.run(t, "first", w.now("edited"))
			w.clock = w.clock.Add(time.Minute)
			if tt.change != nil {
				tt.change(&w.o)
			}
			o := w.o
			o.Task.ID = protocol.DeriveTaskID("undo", "second")
			rep, _ := run(t, o, w.now("closed")) // a rule may fail
			if got := w.labels(); got != tt.labels || len(rep.Actions) != tt.actions {
				t.Errorf("got %q, want %q with %d actions: %+v", got, tt.labels, tt.actions, rep)
			}
		})
	}
}

// TestUndoWithoutTimeline checks the answer to undo if the timeline cannot be read.
func TestUndoWithoutTimeline(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{add_label: docs}]}\n")
	w.run(t, "first", w.now("edited"))
	e := w.comment("/foreman undo")
	w.o.Host.Issues, w.o.DryRun = nil, true
	rep := w.run(t, "undo", e)
	if got := fmt.Sprint(rep.Actions); len(rep.Actions) != 1 || !strings.Contains(got, "with the changes of people, cannot be read") {
		t.Errorf("got %s", got)
	}
}

// TestNeverAgainImplicit checks that a memory which was not configured is not read for labels that
// no rule and no agent can have forbidden.
func TestNeverAgainImplicit(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: b, on: issues.edited, then: [{add_label: docs}]}\n")
	store := &countingStore{Agenda: memory.New()}
	r := memory.Record{Repo: repoName, Issue: 1}
	r.Forbid("docs")
	if err := store.Agenda.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	o.Memory.Implicit, e.Action = true, "edited"
	rep, err := run(t, o, e)
	if got := gh.Issue(repoName, 1).Labels; err != nil || !slices.Contains(got, "docs") {
		t.Errorf("got %v, %q: %+v", err, got, rep.Actions)
	}
}

// TestFactsWantIssue checks that the facts of an event without an issue are an error.
func TestFactsWantIssue(t *testing.T) {
	t.Parallel()
	_, _, o := world(t, "")
	if _, err := runner.Facts(t.Context(), o.Options, triage.Delivery{}); err == nil || !strings.Contains(err.Error(), "no issue") {
		t.Errorf("got %v", err)
	}
}

// TestOwnLoginLearned checks that a Runner knows the login under which it commented, although another
// one is configured.
func TestOwnLoginLearned(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: hello}]}\n")
	o.Host.Login = "my-bot"
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), o.Task, e); err != nil {
		t.Fatal(err)
	}
	e.Action, e.Sender.Login = "labeled", runner.DefaultBot
	if rep, err := r.Run(t.Context(), o.Task, e); err != nil || !strings.Contains(rep.Reason, "our own bot") {
		t.Errorf("got %v, %q", err, rep.Reason)
	}
}

// TestCommentsUnreadable checks that a run fails, and posts nothing, if it cannot look for the comment
// of an earlier attempt.
func TestCommentsUnreadable(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: hello}]}\n")
	gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/" + repoName + "/issues/1/comments", Status: 403, Times: -1, Body: `{"message":"Resource not accessible by integration"}`})
	o.Task.First = false
	rep, err := run(t, o, e)
	if _, ok := errors.AsType[*triage.PermissionError](err); !ok || rep.Status != runner.StatusFailed || len(written(gh)) > 0 {
		t.Errorf("got %v, %s: %+v", err, rep.Status, rep.Actions)
	}
}

// TestMemoryTroubles checks how failures of the memory and of the journal are reported.
func TestMemoryTroubles(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: r, on: issues.%s, then: [{add_label: docs}]}\n"
	broken := errors.New("input/output error")
	tests := []struct {
		name, config string
		change       func(*options)
		warnings     int
		fails        bool
	}{
		{"nothing is saved if nothing is decided", fmt.Sprintf(rule, "closed"), func(o *options) { keepIn(o, badStore{}) }, 0, false},
		{"unsaved", fmt.Sprintf(rule, "opened"), func(o *options) { keepIn(o, badStore{}) }, 1, false},
		{"unsaved, and not configured", fmt.Sprintf(rule, "opened"), func(o *options) { keepIn(o, badStore{}); o.Memory.Implicit = true }, 0, false},
		{"unsaved, and required", fmt.Sprintf(rule, "opened"), func(o *options) { keepIn(o, badStore{}); o.Memory.Required = true }, 0, true},
		{"an unsaved scheduled close", "policy: {allow_close: true}\nrules:\n  - {id: r, on: issues.opened, then: [{close_issue: {after: 72h}}]}\n", func(o *options) { keepIn(o, readOnly{memory.New()}) }, 0, true},
		{"no journal if nothing is decided", fmt.Sprintf(rule, "closed"), func(o *options) { o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), begin: broken} }, 0, false},
		{"no journal in a dry run", fmt.Sprintf(rule, "opened"), func(o *options) {
			o.Memory.Journal, o.DryRun = &faultyJournal{Journal: memory.NewJournal(), read: broken, begin: broken}, true
		}, 0, false},
		{
			"no journal of a decision without a rule", fmt.Sprintf(rule, "opened") + "  - {id: s, on: issues.opened, when: 'int(issue.title) > 3', then: [escalate]}\n",
			func(o *options) { o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), begin: broken} }, 0, true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := world(t, tt.config)
			tt.change(&o)
			rep, err := run(t, o, e)
			if (err != nil) != tt.fails || len(rep.Warnings) != tt.warnings {
				t.Errorf("got %v, warnings %q, want %d", err, rep.Warnings, tt.warnings)
			}
		})
	}
}

// TestStatus checks the status and the reason of runs that carry out nothing.
func TestStatus(t *testing.T) {
	t.Parallel()
	const adds = "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n"
	tests := []struct {
		name, config string
		change       func(*githubtest.Repo, *options)
		reason       string
	}{
		{"a dry run that decides nothing", "", func(_ *githubtest.Repo, o *options) { o.DryRun = true }, ""},
		{"a dry run, deleted meanwhile", adds, func(r *githubtest.Repo, o *options) { o.DryRun, o.Live = true, false; r.DeleteIssue(1) }, triage.ErrGone.Error()},
		{"deleted meanwhile", adds, func(r *githubtest.Repo, _ *options) { r.DeleteIssue(1) }, triage.ErrGone.Error()},
		{"nothing is left", strings.Replace(adds, "docs", "bug", 1), func(*githubtest.Repo, *options) {}, "no action was left to carry out"},
		{"all are refused", adds + "policy: {labels: {deny: [docs]}}\n", func(*githubtest.Repo, *options) {}, "1 action refused: docs: policy.labels.deny has docs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			tt.change(gh.Repo(repoName), &o)
			rep, err := run(t, o, e)
			if err != nil || rep.Status != runner.StatusSkipped || rep.Reason != tt.reason || rep.CommentURL != "" {
				t.Errorf("got %v, %s: %q, want %q: %+v", err, rep.Status, rep.Reason, tt.reason, rep.Actions)
			}
			if (rep.Rules == nil) != (tt.config == "") {
				t.Errorf("got the result %+v of the rules %q", rep.Rules, tt.config)
			}
			for _, a := range rep.Actions {
				if a.URL != "" {
					t.Errorf("%s was not carried out, and has the address %s", a.Action.Type, a.URL)
				}
			}
		})
	}
}

// A barePulls host returns no fields that pull requests share with issues.
type barePulls struct{ runner.Repository }

func (h barePulls) Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error) {
	p, err := h.Repository.Pull(ctx, ref)
	p.Shared.Number = 0
	return p, err
}

// TestReadAgainPullOtherwise checks a late run on a pull request that no longer exists, or on a host that
// returns only the fields of pull requests.
func TestReadAgainPullOtherwise(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: r, on: pull_request.opened, then: [close_issue]}\npolicy: {allow_close: true}\n"
	gh, _, o := world(t, rule)
	rep, err := run(t, o, pullOpened(t, o.Clock.Now().Add(-time.Hour)))
	if err != nil || rep.Status != runner.StatusSkipped || rep.Reason != triage.ErrGone.Error() {
		t.Errorf("gone: got %v, %+v", err, rep)
	}
	gh.Repo(repoName).AddIssue(githubtest.Issue{Number: 7, PullRequest: true})
	gh.ResetCalls()
	o.Host.Repository = barePulls{o.Host.Repository}
	rep, err = run(t, o, pullOpened(t, o.Clock.Now().Add(-time.Hour)))
	if got := callsOf(gh); err != nil || rep.ReadAgain == "" || !slices.Equal(got[:2], []string{"GET pulls/7", "GET issues/7"}) {
		t.Errorf("fields of pull requests alone: got %v, %q, calls %q", err, rep.ReadAgain, got)
	}
}

// TestUntimedClose checks that a veto against a scheduled close counts from the decision on if the
// event has no time.
func TestUntimedClose(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "policy: {allow_close: true}\nrules:\n  - {id: r, on: issues.opened, then: [{close_issue: {after: 72h}}]}\n")
	store := memory.New()
	keepIn(&o, store)
	e.At, e.Issue.UpdatedAt = time.Time{}, time.Time{}
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	r, err := store.Load(t.Context(), repoName, 1)
	if err != nil || len(r.Closings) != 1 || !r.Closings[0].At.Equal(o.Clock.Now()) {
		t.Errorf("got %v, %+v", err, r.Closings)
	}
}

// TestUnkeptMemory checks that a command does not read a memory that runs like this one never fill.
func TestUnkeptMemory(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "")
	keepIn(&w.o, badStore{})
	w.o.Memory.ReadOnly, w.o.Memory.Implicit = true, true
	if rep := w.run(t, "undo", w.comment("/foreman undo")); len(rep.Warnings) > 0 {
		t.Errorf("got warnings %q", rep.Warnings)
	}
}

// TestReversalOfAssignment checks that an assignment which another rule reverts is reverted once.
func TestReversalOfAssignment(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: [issues.edited, issues.closed], when: 'event.action == \"edited\"', else_undo: true, then: [{assign: [mona]}]}\n"+
		"  - {id: b, on: issues.closed, then: [{unassign: [mona]}]}\n")
	w.gh.Repo(repoName).AddUser("mona")
	if rep := w.run(t, "first", w.now("edited")); rep.Executed != 1 {
		t.Fatalf("got %+v", rep.Actions)
	}
	w.clock = w.clock.Add(time.Minute)
	e := w.now("closed")
	e.Issue.Assignees = []string{"mona"}
	if rep := w.run(t, "second", e); len(rep.Actions) != 1 || len(w.gh.Issue(repoName, 1).Assignees) != 0 {
		t.Errorf("got %+v", rep.Actions)
	}
}

// TestWarnedOnce checks that a warning of the decision on the issue in the event is not repeated after
// the issue was read again.
func TestWarnedOnce(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: [issues.edited, issues.closed], when: 'event.action == \"edited\"', else_undo: true, then: [{add_label: docs}]}\n"+
		"  - {id: b, on: issues.closed, then: [{add_label: triage}]}\n")
	w.run(t, "first", w.now("edited"))
	e := w.now("closed")
	w.clock = w.clock.Add(time.Hour)
	w.o.Host.Issues = timelessHost{w.o.Host.Issues}
	w.o.Task.ID = protocol.DeriveTaskID("undo", "second")
	rep, _ := run(t, w.o, e) // the review needs the timeline
	if rep.ReadAgain == "" || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "no timeline today") {
		t.Errorf("read again because %q, warnings %q", rep.ReadAgain, rep.Warnings)
	}
}

// TestTraceOfAnotherTask checks that a resumed task counts a comment of another task, posted after the
// event, as that task's, although the record was lost.
func TestTraceOfAnotherTask(t *testing.T) {
	t.Parallel()
	w := newUndoWorld(t, "rules:\n  - {id: a, on: issues.edited, then: [{comment: hello}]}\n  - {id: b, on: issues.closed, when: memory.tasks == 1, then: [{add_label: docs}]}\n")
	e := w.now("closed")
	e.Issue.UpdatedAt = e.Issue.UpdatedAt.Add(-time.Hour)
	w.run(t, "other", w.now("edited"))
	keepIn(&w.o, memory.New())
	w.o.Task.First = false
	if rep := w.run(t, "resumed", e); w.labels() != "bug docs" {
		t.Errorf("got labels %q: %+v", w.labels(), rep)
	}
}
