package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const journalRepo = "Codertocat/Hello-World"

// A faultyJournal fails when it is read or begun.
type faultyJournal struct {
	memory.Journal
	read, begin error
}

func (j *faultyJournal) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	if j.read != nil {
		return memory.Ledger{}, j.read
	}
	return j.Journal.Ledger(ctx, key)
}

func (j *faultyJournal) Begin(ctx context.Context, l memory.Ledger) error {
	if j.begin != nil {
		return j.begin
	}
	return j.Journal.Begin(ctx, l)
}

// said returns the first lines of the comments on the issue.
func said(gh *githubtest.Server) []string {
	var list []string
	for _, c := range gh.Issue(journalRepo, 1).Comments {
		_, body, _ := strings.Cut(c.Body, " -->\n\n")
		list = append(list, body)
	}
	return list
}

// TestJournalUnreadable checks that earlier writes are looked up on GitHub if the journal cannot be
// read, whether or not Task.First is set.
func TestJournalUnreadable(t *testing.T) {
	t.Parallel()
	for _, err := range []error{memory.ErrBroken, memory.ErrNewer, errors.New("input/output error")} {
		gh, e, o := world(t, "")
		o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal()}
		asked := 0
		o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, labelDocs, hello)
		if _, err := run(t, o, e); err != nil {
			t.Fatal(err)
		}
		o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), read: err}
		rep, rerr := run(t, o, e)
		if rerr != nil || asked != 2 || len(said(gh)) != 1 {
			t.Errorf("%v: got %v, asked %d, comments %q", err, rerr, asked, said(gh))
		}
		if len(rep.Warnings) == 0 || !strings.Contains(rep.Warnings[0], "journal") {
			t.Errorf("%v: got warnings %q", err, rep.Warnings)
		}
	}
}

// TestJournalBegun checks that a task is left to the run that began its journal first.
func TestJournalBegun(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), begin: memory.ErrConflict}
	rep, err := run(t, o, e)
	if err == nil || rep.Status != runner.StatusFailed || len(gh.Log()) != 0 {
		t.Errorf("got %s, %v, calls %v", rep.Status, err, gh.Log())
	}
}

// TestJournalUnwritable checks that the decision is carried out with a warning if the journal
// cannot be written.
func TestJournalUnwritable(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), begin: errors.New("no space left on device")}
	rep, err := run(t, o, e)
	if err != nil || len(rep.Warnings) != 1 || !slices.Contains(gh.Issue(journalRepo, 1).Labels, "docs") {
		t.Errorf("got %v, warnings %q", err, rep.Warnings)
	}
}

// TestJournalFallback checks that an agent which failed is asked again by the next attempt, because
// a fallback decision is not stored.
func TestJournalFallback(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "agent: {on_failure: {add_label: triage}}")
	o.Memory.Journal = memory.NewJournal()
	o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		return protocol.DecisionMessage{}, errors.New("the agent is down")
	})
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	asked := 0
	o.Agent.Agent, o.Task.First = answers(&asked, protocol.LabelAndRespond, labelDocs), false
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	if labels := gh.Issue(journalRepo, 1).Labels; asked != 1 || !slices.Contains(labels, "docs") {
		t.Errorf("asked %d times, labels %v", asked, labels)
	}
}

// TestJournalPolicyChanged resumes a decision under a changed policy. Actions that the policy now
// refuses are not written. Actions that were written under the old policy are recognized.
func TestJournalPolicyChanged(t *testing.T) {
	t.Parallel()
	const limits = "policy: {limits: {comment: 2}"
	gh, e, o := world(t, limits+"}")
	o.Memory.Journal = memory.NewJournal()
	asked := 0
	o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, `{"type":"comment","body":"a longer comment"}`, `{"type":"comment","body":"short"}`, labelDocs)
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Nth: 2, Times: 1, Status: 422})
	if _, err := run(t, o, e); err == nil {
		t.Fatal("the fault did not hit")
	}
	cfg, err := config.Parse("foreman.yml", []byte("version: 1\n"+limits+", comment_length: 5, labels: {deny: [docs]}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Config, o.Task.First = cfg, false
	rep, err := run(t, o, e)
	if err != nil || asked != 1 {
		t.Fatalf("got %v, asked %d times", err, asked)
	}
	if got := said(gh); !slices.Equal(got, []string{"a longer comment", "short"}) {
		t.Errorf("got comments %q", got)
	}
	if rep.Actions[0].Verdict != triage.Refuse || rep.Actions[2].Verdict != triage.Refuse {
		t.Errorf("got %+v", rep.Actions)
	}
	key := memory.LedgerKey{Repo: journalRepo, Issue: 1, Task: runTask}
	l, err := o.Memory.Journal.Ledger(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var states []triage.State
	for _, entry := range l.Entries {
		states = append(states, entry.State)
	}
	if want := []triage.State{triage.Done, triage.Done, triage.Skipped}; !slices.Equal(states, want) {
		t.Errorf("got %v, want %v", states, want)
	}
}

// TestJournalUncertain checks that an unknown outcome is reported as unknown.
func TestJournalUncertain(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	o.Memory.Journal = memory.NewJournal()
	asked := 0
	o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, hello)
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Nth: 1, Times: -1, Status: 502})
	if _, err := run(t, o, e); !errors.Is(err, triage.ErrUncertain) {
		t.Fatalf("got %v", err)
	}
	l, err := o.Memory.Journal.Ledger(t.Context(), memory.LedgerKey{Repo: journalRepo, Issue: 1, Task: runTask})
	if err != nil || l.Entries[0].State != triage.Trying {
		t.Errorf("got %+v, %v", l, err)
	}
}

// TestLive checks which runs read the timeline of an issue, and so respect that a person removed a
// label.
func TestLive(t *testing.T) {
	t.Parallel()
	const src = "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n"
	tests := []struct {
		name string
		set  func(*options, *triage.Delivery)
		want bool // whether a person's removal of the label is respected
	}{
		{"live", func(*options, *triage.Delivery) {}, false},
		{"from the command line", func(o *options, _ *triage.Delivery) { o.Live = false }, true},
		{"late", func(_ *options, e *triage.Delivery) { e.Issue.CreatedAt = e.Issue.CreatedAt.AddDate(0, 0, -1) }, true},
		{"a second attempt", func(o *options, _ *triage.Delivery) { o.Task.First = false }, true},
		{"another event", func(_ *options, e *triage.Delivery) { e.Action = "reopened" }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, strings.Replace(src, "issues.opened", "[issues.opened, issues.reopened]", 1))
			gh.Repo(journalRepo).LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "docs")
			tt.set(&o, &e)
			if _, err := run(t, o, e); err != nil {
				t.Fatal(err)
			}
			if got := !slices.Contains(gh.Issue(journalRepo, 1).Labels, "docs"); got != tt.want {
				t.Errorf("a person's word counts: got %v, want %v\n%s", got, tt.want, strings.Join(gh.Log(), "\n"))
			}
		})
	}
}

// TestJournalRulesBesideFallback checks that the decision of the rules is stored even if the agent
// failed. Otherwise the next attempt would post the comment again.
func TestJournalRulesBesideFallback(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "agent: {when: true, on_failure: skip}\nrules:\n  - {id: r, on: issues.opened, then: [{comment: Hello.}]}\n")
	o.Memory.Journal, o.Host.Login = memory.NewJournal(), "not-our-login"
	o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		return protocol.DecisionMessage{}, errors.New("the agent is down")
	})
	for range 2 {
		if _, err := run(t, o, e); err != nil {
			t.Fatal(err)
		}
		o.Task.First = false
	}
	if got := said(gh); len(got) != 1 {
		t.Errorf("got comments %q", got)
	}
}

// TestJournalRetriageBesideFallback checks that an agent which failed is asked again by the next
// attempt if rules fired without an action.
func TestJournalRetriageBesideFallback(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "agent: {when: true, on_failure: {add_label: triage}}\nrules:\n  - {id: r, on: issues.edited, then: [retriage]}\n")
	o.Memory.Journal, e.Action = memory.NewJournal(), "edited"
	asked := 0
	o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
		asked++
		return protocol.DecisionMessage{}, errors.New("the agent is down")
	})
	for range 2 {
		if _, err := run(t, o, e); err != nil {
			t.Fatal(err)
		}
		o.Task.First = false
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
}

// TestCommentsSince checks from which time on a later attempt reads the comments: from the last
// change of the issue that the event contains.
func TestCommentsSince(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*testing.T, options, triage.Delivery) error{
		"run": func(t *testing.T, o options, e triage.Delivery) error {
			t.Helper()
			_, err := run(t, o, e)
			return err
		},
		"apply": func(t *testing.T, o options, e triage.Delivery) error {
			t.Helper()
			_, err := apply(t, o, e, decided(t, protocol.LabelAndRespond, hello))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{comment: Hello.}]}\n")
			o.Task.First, e.At = false, time.Time{}
			if err := do(t, o, e); err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, c := range gh.Server.Calls() {
				if _, query, ok := strings.Cut(c.URI, "/issues/1/comments?"); ok {
					list = append(list, query)
				}
			}
			if got := strings.Join(list, " "); !strings.Contains(got, "since=2026-04-10T12%3A00%3A00Z") {
				t.Errorf("got the queries %s", got)
			}
		})
	}
}

// TestStickyWithoutMemory checks that a comment which this program updates is found without a read
// of the memory.
func TestStickyWithoutMemory(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.edited, then: [{update_comment: {key: k, body: Hello.}}]}\n")
	keepIn(&o, badStore{})
	e.Action = "edited"
	rep, err := run(t, o, e)
	if err != nil || rep.Executed != 1 || slices.ContainsFunc(rep.Warnings, func(w string) bool { return strings.Contains(w, "timeline") }) {
		t.Errorf("got %v, warnings %q, calls %q", err, rep.Warnings, gh.Log())
	}
}

// TestJournalUnreadableAndKept checks that a journal which could not be read is not mistaken for
// the journal of another run.
func TestJournalUnreadableAndKept(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, then: [{add_label: docs}]}\n")
	o.Memory.Journal = &faultyJournal{Journal: memory.NewJournal(), read: errors.New("input/output error"), begin: memory.ErrConflict}
	rep, err := run(t, o, e)
	if err != nil || len(rep.Warnings) != 1 || !slices.Contains(gh.Issue(journalRepo, 1).Labels, "docs") {
		t.Errorf("got %v, warnings %q", err, rep.Warnings)
	}
}

// A lostHost is a host on which the end of a timeline cannot be found.
type lostHost struct{ runner.Issues }

func (lostHost) Timeline(context.Context, triage.Ref) (triage.Timeline, error) {
	return triage.Timeline{}, triage.ErrTruncated
}

// TestTimelineWithoutEnd checks that only actions that people may have overridden are skipped.
func TestTimelineWithoutEnd(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.reopened, then: [{add_label: docs}, {comment: Hello.}]}\n")
	o.Host.Issues, e.Action = lostHost{o.Host.Issues}, "reopened"
	rep, err := run(t, o, e)
	if err != nil || len(said(gh)) != 1 || rep.Actions[0].Verdict != triage.Skip {
		t.Errorf("got %v, comments %q, actions %+v", err, said(gh), rep.Actions)
	}
	if len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "cannot be found") {
		t.Errorf("got warnings %q", rep.Warnings)
	}
}

// TestReadOnlyMemory checks that a read-only memory is read, but that nothing is saved or deferred.
func TestReadOnlyMemory(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `rules:
  - {id: a, on: issues.opened, then: [{add_label: docs}, {add_label: triage}]}
  - {id: b, on: issues.opened, then: [{never_again: bug}]}
`)
	store := memory.New()
	r := memory.Record{Repo: journalRepo, Issue: 1}
	r.Forbid("docs")
	if err := store.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	keepIn(&o, readOnly{store})
	o.Memory.ReadOnly, o.Live = true, false
	rep, err := run(t, o, e)
	if err != nil || len(rep.Warnings) > 0 || rep.Status != runner.StatusApplied {
		t.Fatalf("got %v, status %s, warnings %q", err, rep.Status, rep.Warnings)
	}
	var got []string
	for _, a := range rep.Actions {
		got = append(got, fmt.Sprintf("%s: %s", a.State, a.Reason))
	}
	want := []string{
		"skipped: docs: an earlier decision forbids the label (never_again)", "done: ",
		"refused: the memory is read-only on this event: see memory.store (input memory)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if labels := gh.Issue(journalRepo, 1).Labels; !slices.Equal(labels, []string{"bug", "triage"}) {
		t.Errorf("got labels %q", labels)
	}
}
