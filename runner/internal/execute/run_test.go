package execute_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A fakeHost and its journal record all calls in one log, in order.
type fakeHost struct {
	log   []string
	issue triage.Issue
	// write is called for each write; nil: it succeeds.
	write func(ctx context.Context, e effect.Effect) error
	// mark is called for each entry of the journal; nil: it succeeds.
	mark func(memory.Entry) error
	// comments are the comments of the issue; nil: it has none.
	comments func() []triage.Comment
}

func (h *fakeHost) Issue(context.Context, triage.Ref) (triage.Snapshot, error) {
	h.log = append(h.log, "issue")
	return triage.Snapshot{Issue: h.issue}, nil
}

func (h *fakeHost) Comments(context.Context, triage.Ref, time.Time, func(triage.Comment) bool) ([]triage.Comment, error) {
	h.log = append(h.log, "comments")
	if h.comments == nil {
		return nil, nil
	}
	return h.comments(), nil
}

func (h *fakeHost) Timeline(context.Context, triage.Ref) (triage.Timeline, error) {
	return triage.Timeline{Complete: true}, nil
}

func (h *fakeHost) Comment(context.Context, triage.Ref, int64) (triage.Comment, error) {
	h.log = append(h.log, "comment")
	return triage.Comment{}, triage.ErrNotFound
}

func (h *fakeHost) Write(ctx context.Context, _ triage.Ref, e effect.Effect) (effect.Written, error) {
	h.log = append(h.log, "write "+effect.TypeOf(e))
	if h.write != nil {
		if err := h.write(ctx, e); err != nil {
			return effect.Written{}, err
		}
	}
	w := effect.Written{Comment: triage.Comment{URL: "https://comment", Author: "hubot[bot]"}}
	if a, ok := e.(effect.Assign); ok {
		w.Accepted = a.Logins
	}
	return w, nil
}

// Ledger implements memory.Journal.
func (h *fakeHost) Ledger(context.Context, memory.LedgerKey) (memory.Ledger, error) {
	return memory.Ledger{}, memory.ErrNotFound
}

// Begin implements memory.Journal.
func (h *fakeHost) Begin(context.Context, memory.Ledger) error { return nil }

// Mark implements memory.Journal.
func (h *fakeHost) Mark(ctx context.Context, _ memory.LedgerKey, e memory.Entry) error {
	line := fmt.Sprintf("mark %d %s %q", e.Index, e.State, e.Values)
	if e.Reason != "" {
		line += " " + e.Reason
	}
	if ctx.Err() != nil {
		line += " (stopped)"
	}
	h.log = append(h.log, line)
	if h.mark != nil {
		return h.mark(e)
	}
	return nil
}

// A fixture is a plan with everything needed to carry it out on a fakeHost.
type fixture struct {
	host   *fakeHost
	made   plan.Plan
	target execute.Target
	warned []string
}

// newFixture plans the actions, which are given as JSON.
func newFixture(t *testing.T, actions ...string) *fixture {
	t.Helper()
	d := plan.Decision{Message: protocol.DecisionMessage{Decision: protocol.LabelAndRespond}}
	for _, src := range actions {
		var a protocol.ActionItem
		if err := a.UnmarshalJSON([]byte(src)); err != nil {
			t.Fatal(err)
		}
		d.Message.Actions, d.Sources = append(d.Message.Actions, a), append(d.Sources, triage.Source{Rule: "r"})
	}
	f := &fixture{host: &fakeHost{}}
	f.made = plan.Make(plan.Input{
		Decision: d, Issue: triage.Issue{Number: 7, State: "open", Labels: []string{"old"}}, MayComment: true,
		Policy: policy.Policy{AllowClose: true, Limits: map[string]int{"comment": 9}},
	})
	f.made.InOrder = true // also a lock is carried out in the order of the decision
	f.target = execute.Target{
		Host: f.host, Identity: history.Identity{Task: applyTask, Login: "hubot[bot]"},
		Journal: &execute.Journal{
			Journal: f.host, Now: func() time.Time { return time.Unix(0, 0) },
			Warn: func(format string, args ...any) { f.warned = append(f.warned, fmt.Sprintf(format, args...)) },
		},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Log:   slog.New(slog.DiscardHandler),
		Warn:  func(format string, args ...any) { f.warned = append(f.warned, fmt.Sprintf(format, args...)) },
	}
	return f
}

// run carries out a reviewed plan.
func (f *fixture) run(ctx context.Context, reviewed plan.Plan) execute.Outcome {
	return execute.Run(ctx, f.made, reviewed, f.target)
}

// looked are the look-ups of a write that never took effect.
var looked = slices.Repeat([]string{`issue`}, 5)

// states formats the states and reasons of an outcome.
func states(out execute.Outcome) string {
	var list []string
	for _, r := range out.Results {
		text := string(r.State)
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func (f *fixture) wantLog(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.host.log); diff != "" {
		t.Errorf("calls and marks (-want +got):\n%s", diff)
	}
}

const (
	addBug   = `{"type": "add_label", "label": "bug"}`
	hello    = `{"type": "comment", "body": "hello", "once": "hi"}`
	later    = `{"type": "close_issue", "after": "3d"}`
	addOld   = `{"type": "add_label", "label": "old"}`
	lockIt   = `{"type": "lock"}`
	unknown  = `{"type": "make_coffee"}`
	assignTo = `{"type": "assign", "assignees": ["mona", "ghost"]}`
)

// TestJournalOrder checks that each write is marked before and after it, and a step without a write
// once.
func TestJournalOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addOld, hello, later, unknown, lockIt)
	out := f.run(t.Context(), f.made)
	f.wantLog(t,
		`mark 0 trying []`, `write add_labels`, `mark 0 done ["bug"]`,
		`mark 1 skipped [] already there`,
		`mark 2 trying []`, `write comment`, `mark 2 done ["hi"]`,
		`mark 3 trying []`, `mark 3 done [] to be closed after 72h`,
		`mark 4 failed [] UnknownActionError: action 5 has the unknown type "make_coffee"`,
	)
	if got, want := states(out), "done; skipped: already there; done; noted: to be closed after 72h; "+
		`failed: UnknownActionError: action 5 has the unknown type "make_coffee"; skipped: it follows an unknown action`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok := errors.AsType[*triage.UnknownActionError](out.Err); !ok || out.Executed() != 3 {
		t.Errorf("got %v, %d carried out", out.Err, out.Executed())
	}
	if out.Results[2].URL != "https://comment" || out.Results[0].URL != "" {
		t.Errorf("got addresses %q and %q", out.Results[2].URL, out.Results[0].URL)
	}
}

// TestJournalKeepsDone checks that actions which an earlier attempt did or skipped are not marked
// as skipped.
func TestJournalKeepsDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addOld, addOld, addOld)
	f.target.Journal.Entries = []memory.Entry{{Index: 0, State: triage.Done}, {Index: 1, State: triage.Skipped}, {Index: 2, State: triage.Trying}}
	f.run(t.Context(), f.made)
	f.wantLog(t, `mark 2 skipped [] already there`)
}

// TestLookUp checks how long a comment whose answer was lost is looked for before it is posted
// again.
func TestLookUp(t *testing.T) {
	t.Parallel()
	const all = "comments at 1, comments at 3, comments at 6, comments at 10, comments at 11"
	tests := []struct {
		name    string
		appears int // seconds after the answer was lost
		stop    int // seconds until the run is asked to stop; 0: never
		want    string
		state   triage.State
	}{
		{"at once", 0, 0, "comments at 1", triage.Done},
		{"after 3 s", 3, 0, "comments at 1, comments at 3", triage.Done},
		{"after 10 s", 10, 0, "comments at 1, comments at 3, comments at 6, comments at 10", triage.Done},
		{"at the end", 11, 0, all, triage.Done},
		{"never", 99, 0, all + ", write at 11", triage.Done},
		{"the job ends first", 10, 4, "comments at 1, comments at 3", triage.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := newFixture(t, hello, addBug)
			now, writes := 0, 0
			f.target.Sleep = func(ctx context.Context, d time.Duration) error {
				if now += int(d / time.Second); tt.stop > 0 && now >= tt.stop {
					cancel()
				}
				return ctx.Err()
			}
			var got []string
			f.host.comments = func() []triage.Comment {
				got = append(got, fmt.Sprintf("comments at %d", now))
				if now < tt.appears {
					return nil
				}
				body := f.target.Identity.Marker(effect.Comment{Once: "hi"}, "").Mark("hello")
				return []triage.Comment{{ID: 1, Author: "hubot[bot]", Body: body}}
			}
			f.host.write = func(_ context.Context, e effect.Effect) error {
				if _, ok := e.(effect.Comment); !ok {
					return nil
				}
				if writes++; writes == 1 {
					return triage.ErrUncertain
				}
				got = append(got, fmt.Sprintf("write at %d", now))
				return nil
			}
			out := f.run(ctx, f.made)
			if got := strings.Join(got, ", "); got != tt.want || out.Results[0].State != tt.state {
				t.Errorf("got  %s, %s\nwant %s, %s", got, states(out), tt.want, tt.state)
			}
			if tt.state == triage.Unknown {
				// The journal still has the action as begun, so the next attempt looks first.
				f.wantLog(t, `mark 0 trying []`, `write comment`, `comments`, `comments`)
				if !errors.Is(out.Err, triage.ErrUncertain) || out.Results[0].State.Result() != "failed" || out.Results[1].State != triage.NotRun {
					t.Errorf("got %v, %s", out.Err, states(out))
				}
			}
		})
	}
}

// TestJournalFails checks that there is one warning if the journal fails, and that the run
// continues.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, lockIt)
	f.host.mark = func(memory.Entry) error { return errors.New("the disk is full") }
	out := f.run(t.Context(), f.made)
	f.wantLog(t, `mark 0 trying []`, `write add_labels`, `write lock`)
	if diff := cmp.Diff([]string{"journal: the disk is full; a later attempt looks up which writes took effect"}, f.warned); diff != "" || out.Err != nil {
		t.Errorf("%v, warnings (-want +got):\n%s", out.Err, diff)
	}
}

// TestNoJournal checks that the same writes are made without a journal.
func TestNoJournal(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addOld, lockIt)
	f.target.Journal = nil
	if out := f.run(t.Context(), f.made); out.Err != nil || out.Executed() != 2 {
		t.Errorf("got %+v", out)
	}
	f.wantLog(t, `write add_labels`, `write lock`)
}

// TestGuard stops before the write that the guard does not permit.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, later, lockIt)
	n, lost := 0, errors.New("another worker has the task")
	f.target.Guard = func(context.Context) error {
		if n++; n == 3 {
			return lost
		}
		return nil
	}
	out := f.run(t.Context(), f.made)
	f.wantLog(t,
		`mark 0 trying []`, `write add_labels`, `mark 0 done ["bug"]`,
		`mark 1 trying []`, `mark 1 done [] to be closed after 72h`,
	)
	if !errors.Is(out.Err, triage.ErrHalted) || !errors.Is(out.Err, lost) || out.Executed() != 2 {
		t.Errorf("got %v, %d carried out", out.Err, out.Executed())
	}
	if got := out.Results[2].State; got != triage.Failed {
		t.Errorf("got %s", got)
	}
}

// TestGuardRepeats checks that the guard is also called before a repeated write, and that the write
// is marked once.
func TestGuardRepeats(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt)
	asked := 0
	f.target.Guard = func(context.Context) error { asked++; return nil }
	f.host.write = func(context.Context, effect.Effect) error {
		if asked == 1 {
			return triage.ErrUncertain
		}
		return nil
	}
	if out := f.run(t.Context(), f.made); out.Err != nil || asked != 2 {
		t.Errorf("got %v, asked %d times", out.Err, asked)
	}
	f.wantLog(t, slices.Concat([]string{`mark 0 trying []`, `write lock`}, looked, []string{`write lock`, `mark 0 done []`})...)
}

// TestUncertain checks that a write of unknown outcome keeps its mark "trying".
func TestUncertain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt, addBug)
	f.host.write = func(context.Context, effect.Effect) error { return triage.ErrUncertain }
	out := f.run(t.Context(), f.made)
	want := []string{`mark 0 trying []`}
	for range 3 {
		want = append(append(want, `write lock`), looked...)
	}
	f.wantLog(t, want...)
	if !errors.Is(out.Err, triage.ErrUncertain) || out.Results[0].State != triage.Unknown || out.Results[1].State != triage.NotRun {
		t.Errorf("got %v, %s", out.Err, states(out))
	}
}

// TestUncertainLanded checks that a write of unknown outcome is looked up, and not repeated if it
// took effect.
func TestUncertainLanded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt)
	f.host.write = func(context.Context, effect.Effect) error {
		f.host.issue.Locked = true
		return triage.ErrUncertain
	}
	if out := f.run(t.Context(), f.made); out.Err != nil || out.Results[0].State != triage.Done {
		t.Errorf("got %v, %s", out.Err, states(out))
	}
	f.wantLog(t, `mark 0 trying []`, `write lock`, `issue`, `mark 0 done []`)
}

// TestCanceled asks the run to stop during a write. The write finishes and is recorded, and no
// other write starts.
func TestCanceled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, lockIt)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop, slept := errors.New("the job was canceled"), make(chan struct{})
	f.target.Sleep = func(ctx context.Context, d time.Duration) error {
		if d <= 0 || d > 10*time.Second {
			t.Errorf("a write may go on for %s", d)
		}
		close(slept)
		<-ctx.Done()
		return ctx.Err()
	}
	f.host.write = func(ctx context.Context, _ effect.Effect) error {
		cancel(stop)
		<-slept
		return ctx.Err() // the write's own context is not canceled with the run's
	}
	out := f.run(ctx, f.made)
	f.wantLog(t, `mark 0 trying []`, `write add_labels`, `mark 0 done ["bug"]`)
	if out.Results[0].State != triage.Done || !errors.Is(out.Err, triage.ErrHalted) || !errors.Is(out.Err, context.Canceled) {
		t.Errorf("got %v, %s", out.Err, states(out))
	}
}

// TestCanceledTooLong checks that a write is interrupted after its grace period.
func TestCanceledTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt)
	ctx, cancel := context.WithCancel(t.Context())
	f.target.Sleep = func(context.Context, time.Duration) error { return nil } // the grace period is over immediately
	f.host.write = func(ctx context.Context, _ effect.Effect) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if out := f.run(ctx, f.made); !errors.Is(out.Err, context.Canceled) || out.Results[0].State != triage.Failed {
		t.Errorf("got %v, %s", out.Err, states(out))
	}
	f.wantLog(t, `mark 0 trying []`, `write lock`, `mark 0 failed [] context canceled`)
}

// TestCanceledBefore checks that a canceled run writes and marks nothing.
func TestCanceledBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out := f.run(ctx, f.made); !errors.Is(out.Err, triage.ErrHalted) || out.Executed() != 0 {
		t.Errorf("got %v, %s", out.Err, states(out))
	}
	f.wantLog(t)
}

// TestGone checks that the run ends without an error if the issue no longer exists.
func TestGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, lockIt, hello)
	f.host.write = func(_ context.Context, e effect.Effect) error {
		if _, ok := e.(effect.Lock); ok {
			return triage.ErrGone
		}
		return nil
	}
	out := f.run(t.Context(), f.made)
	if !out.Gone || out.Err != nil || states(out) != "done; not_run: "+triage.ErrGone.Error()+"; not_run" {
		t.Errorf("got %v, %v, %s", out.Gone, out.Err, states(out))
	}
	f.wantLog(t, `mark 0 trying []`, `write add_labels`, `mark 0 done ["bug"]`, `mark 1 trying []`, `write lock`)
}

// TestAccepted checks that assignees which the host did not accept are dropped, and that the plan
// is not changed.
func TestAccepted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, assignTo)
	f.target.Host = choosyHost{f.host}
	out := f.run(t.Context(), f.made)
	if states(out) != "done: GitHub did not accept ghost" || strings.Join(out.Results[0].Values, " ") != "mona" {
		t.Errorf("got %s, %v", states(out), out.Results[0].Values)
	}
	if got := f.made.Steps[0].Written(); len(got) != 2 || f.made.Steps[0].Reason != "" {
		t.Errorf("the plan was changed: %v", got)
	}
}

// A choosyHost accepts only the assignee mona.
type choosyHost struct{ *fakeHost }

func (h choosyHost) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	w, err := h.fakeHost.Write(ctx, ref, e)
	w.Accepted = []string{"Mona"}
	return w, err
}

// landed returns a plan of which an earlier attempt carried out some steps.
func landed(p plan.Plan, steps ...int) plan.Plan {
	p.Steps, p.Resumed = append([]plan.Step{}, p.Steps...), true
	for _, i := range steps {
		p.Steps[i].Landed, p.Steps[i].URL, p.Steps[i].Values = true, "https://earlier", []string{"earlier"}
	}
	return p
}

// TestLanded checks that steps which an earlier attempt carried out are not written again, and are
// reported with the results of that attempt.
func TestLanded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, later, lockIt)
	f.made = landed(f.made, 0, 1)
	out := f.run(t.Context(), f.made)
	f.wantLog(t, `mark 0 done ["earlier"] an earlier attempt did it`, `mark 1 done ["earlier"] an earlier attempt did it`,
		`mark 2 trying []`, `write lock`, `mark 2 done []`)
	if got, want := states(out), "done: an earlier attempt did it; noted: an earlier attempt did it; done"; got != want || out.Results[0].URL != "https://earlier" {
		t.Errorf("got %s at %s, want %s", got, out.Results[0].URL, want)
	}
}

// TestNotReached checks that steps which were not reached or only planned do not mention an earlier
// attempt.
func TestNotReached(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lockIt, addBug, hello)
	f.made = landed(f.made, 1)
	f.host.write = func(context.Context, effect.Effect) error { return errors.New("no") }
	reviewed := landed(f.made, 1)
	reviewed.Steps[2].Verdict, reviewed.Steps[2].Reason, reviewed.Steps[2].Deferred = triage.Skip, "not now", true
	out := f.run(t.Context(), reviewed)
	if states(out) != "failed: no; not_run; not_run" || out.Deferred {
		t.Errorf("got %s, deferred %v", states(out), out.Deferred)
	}
	f.target.DryRun = true
	dry := f.run(t.Context(), reviewed)
	if states(dry) != "planned; planned; skipped: not now" || !dry.Deferred || dry.Executed() != 0 {
		t.Errorf("dry run: got %s, deferred %v", states(dry), dry.Deferred)
	}
	for _, r := range append(out.Results[1:], dry.Results...) {
		if r.URL != "" || r.Values != nil {
			t.Errorf("%s %s: at %q with %q", r.Action.Type, r.State, r.URL, r.Values)
		}
	}
	f.wantLog(t, `mark 0 trying []`, `write lock`, `mark 0 failed [] no`, `mark 2 skipped [] not now`)
}

// TestAbort checks that only the steps of an earlier attempt are reported as done.
func TestAbort(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, lockIt, addOld, hello, later)
	reviewed := landed(f.made, 0, 2, 3, 4)
	reviewed.Steps[3].Verdict, reviewed.Steps[3].Reason = triage.Skip, "not now"
	broken := errors.New("no timeline")
	out := execute.Abort(f.made, reviewed, broken)
	want := "done: an earlier attempt did it; not_run; skipped: already there; not_run; noted: an earlier attempt did it"
	if got := states(out); got != want || !errors.Is(out.Err, broken) || out.Gone || out.Executed() != 2 {
		t.Errorf("got %s, %v, want %s", got, out.Err, want)
	}
	if r := out.Results[0]; r.URL != "https://earlier" || strings.Join(r.Values, " ") != "earlier" {
		t.Errorf("got %+v", r)
	}
	gone := execute.Abort(f.made, f.made, fmt.Errorf("read: %w", triage.ErrGone))
	reason := "not_run: " + triage.ErrGone.Error()
	want = strings.Join([]string{reason, reason, "skipped: already there", reason, reason}, "; ")
	if got := states(gone); got != want || !gone.Gone || gone.Err != nil || gone.Executed() != 0 {
		t.Errorf("gone: got %s, %v, want %s", got, gone.Err, want)
	}
}

// holding makes the issue have labels, and returns err for each effect.
func holding(f *fixture, err error, labels ...string) func(context.Context, effect.Effect) error {
	return func(context.Context, effect.Effect) error {
		f.host.issue.Labels = append(f.host.issue.Labels, labels...)
		return err
	}
}

const (
	addDocs = `{"type": "add_label", "label": "docs"}`
	addTwo  = `{"type": "add_labels", "labels": ["p1", "ui"]}`
)

// TestLabelsTogether checks that one write adds several labels, and that each is marked before and
// after it.
func TestLabelsTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addOld, addTwo, later, addDocs)
	var wrote [][]string
	f.host.write = func(_ context.Context, e effect.Effect) error {
		wrote = append(wrote, effect.Values(e))
		return nil
	}
	asked := 0
	f.target.Guard = func(context.Context) error { asked++; return nil }
	out := f.run(t.Context(), f.made)
	f.wantLog(t,
		`mark 0 trying []`, `mark 2 trying []`, `write add_labels`, `mark 0 done ["bug"]`, `mark 1 skipped [] already there`, `mark 2 done ["p1" "ui"]`,
		`mark 3 trying []`, `mark 3 done [] to be closed after 72h`,
		`mark 4 trying []`, `write add_labels`, `mark 4 done ["docs"]`,
	)
	if diff := cmp.Diff([][]string{{"bug", "p1", "ui"}, {"docs"}}, wrote); diff != "" || asked != 3 || out.Executed() != 4 {
		t.Errorf("%d guards, %d carried out, wrote (-want +got):\n%s", asked, out.Executed(), diff)
	}
}

// TestLabelsOutcomeUnknown checks that only labels that the issue does not have are added again.
func TestLabelsOutcomeUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addDocs, addTwo, lockIt)
	var wrote [][]string
	f.host.write = func(ctx context.Context, e effect.Effect) error {
		wrote = append(wrote, effect.Values(e))
		return holding(f, triage.ErrUncertain, "Docs", "p1")(ctx, e)
	}
	out := f.run(t.Context(), f.made)
	tried := append([]string{`write add_labels`}, looked...)
	f.wantLog(t, slices.Concat([]string{`mark 0 trying []`, `mark 1 trying []`, `mark 2 trying []`}, tried, tried, tried, []string{`mark 1 done ["docs"]`})...)
	if diff := cmp.Diff([][]string{{"bug", "docs", "p1", "ui"}, {"bug", "p1", "ui"}, {"bug", "p1", "ui"}}, wrote); diff != "" {
		t.Errorf("wrote (-want +got):\n%s", diff)
	}
	const gaveUp = "unknown: gave up after 3 tries: the outcome of the write is unknown"
	if got, want := states(out), gaveUp+"; done; "+gaveUp+"; not_run"; got != want || !errors.Is(out.Err, triage.ErrUncertain) {
		t.Errorf("got %s, %v, want %s", got, out.Err, want)
	}
}

// TestLabelsApart checks that labels which are refused together are tried one by one, up to the
// label that is refused separately.
func TestLabelsApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addTwo, addDocs)
	f.host.write = func(_ context.Context, e effect.Effect) error {
		if strings.Contains(strings.Join(effect.Values(e), " "), "ui") {
			return errors.New("422 too long")
		}
		return nil
	}
	out := f.run(t.Context(), f.made)
	f.wantLog(t,
		`mark 0 trying []`, `mark 1 trying []`, `mark 2 trying []`, `write add_labels`,
		`mark 0 trying []`, `write add_labels`, `mark 0 done ["bug"]`,
		`mark 1 trying []`, `write add_labels`, `mark 1 failed [] 422 too long`,
	)
	if got := states(out); got != "done; failed: 422 too long; not_run" {
		t.Errorf("got %s", got)
	}
}

// TestLabelsFail checks that an error for the whole write is reported for each label, and that no
// label is tried separately.
func TestLabelsFail(t *testing.T) {
	t.Parallel()
	denied := &triage.PermissionError{Need: "issues: write", Err: errors.New("403")}
	halted := fmt.Errorf("%w: %w", triage.ErrHalted, errors.New("the lease is over"))
	tests := []struct {
		name  string
		err   error
		guard bool // whether the guard returns the error
		want  string
		marks []string
	}{
		{name: "no permission", err: denied, want: "failed: R; failed: R", marks: []string{`mark 0 failed [] R`, `mark 1 failed [] R`}},
		{name: "limited", err: triage.ErrLimited, want: "failed: R; failed: R", marks: []string{`mark 0 failed [] R`, `mark 1 failed [] R`}},
		{name: "gone", err: triage.ErrGone, want: "not_run: R; not_run: R"},
		{name: "halted before the request", err: halted, want: "failed: R; failed: R"},
		{name: "halted before the write", err: halted, guard: true, want: "failed: R; not_run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, addBug, addDocs, lockIt)
			want := []string{`mark 0 trying []`, `mark 1 trying []`, `write add_labels`}
			f.host.write = func(context.Context, effect.Effect) error { return tt.err }
			reason := tt.err.Error()
			if tt.guard {
				f.target.Guard = func(context.Context) error { return errors.New("the lease is over") }
				want = nil
			}
			out := f.run(t.Context(), f.made)
			for _, m := range tt.marks {
				want = append(want, strings.ReplaceAll(m, "R", reason))
			}
			f.wantLog(t, want...)
			if got := states(out); got != strings.ReplaceAll(tt.want, "R", reason)+"; not_run" || out.Executed() != 0 {
				t.Errorf("got %s", got)
			}
		})
	}
}

// removing returns a fixture that removes labels with known ids.
func removing(t *testing.T, names ...string) *fixture {
	t.Helper()
	f := newFixture(t)
	issue := triage.Issue{Number: 7, State: "open", NodeID: "I_7", Labels: names}
	d := plan.Decision{Message: protocol.DecisionMessage{Decision: protocol.LabelAndRespond}}
	for _, name := range names {
		issue.LabelIDs = append(issue.LabelIDs, triage.LabelID{Name: name, ID: "L_" + name})
		a, err := protocol.NewAction(protocol.ActionRemoveLabel, map[string]any{"label": name})
		if err != nil {
			t.Fatal(err)
		}
		d.Message.Actions = append(d.Message.Actions, a)
	}
	f.made = plan.Make(plan.Input{Decision: d, Issue: issue, Policy: policy.Policy{Limits: map[string]int{protocol.ActionRemoveLabel: len(names)}}})
	f.target.Issue, f.host.issue = issue, issue
	return f
}

// removals records the removals that the host receives, and answers each with an error.
func removals(f *fixture, answer func(effect.RemoveLabels) error) *[]effect.RemoveLabels {
	var wrote []effect.RemoveLabels
	f.host.write = func(_ context.Context, e effect.Effect) error {
		r, _ := e.(effect.RemoveLabels)
		wrote = append(wrote, r)
		return answer(r)
	}
	return &wrote
}

// TestRemovalsTogether checks that one write removes several labels by their ids, and that each is
// marked before and after it.
func TestRemovalsTogether(t *testing.T) {
	t.Parallel()
	f := removing(t, "bug", "Docs")
	wrote := removals(f, func(effect.RemoveLabels) error { return nil })
	out := f.run(t.Context(), f.made)
	f.wantLog(t, `mark 0 trying []`, `mark 1 trying []`, `write remove_label`, `mark 0 done ["bug"]`, `mark 1 done ["Docs"]`)
	want := []effect.RemoveLabels{{Names: []string{"bug", "Docs"}, Issue: "I_7", IDs: []string{"L_bug", "L_Docs"}}}
	if diff := cmp.Diff(want, *wrote); diff != "" || out.Executed() != 2 {
		t.Errorf("%d carried out, wrote (-want +got):\n%s", out.Executed(), diff)
	}
}

// TestRemovalsOutcomeUnknown checks that only removals that did not take effect are repeated, each
// in its own write, because the API for several labels may not exist.
func TestRemovalsOutcomeUnknown(t *testing.T) {
	t.Parallel()
	f := removing(t, "a", "b", "c")
	wrote := removals(f, func(effect.RemoveLabels) error {
		f.host.issue.Labels = f.host.issue.Labels[1:]
		return triage.ErrUncertain
	})
	out := f.run(t.Context(), f.made)
	f.wantLog(t, slices.Concat([]string{`mark 0 trying []`, `mark 1 trying []`, `mark 2 trying []`, `write remove_label`}, looked, []string{
		`mark 0 done ["a"]`,
		`mark 1 trying []`, `write remove_label`, `issue`, `mark 1 done ["b"]`,
		`mark 2 trying []`, `write remove_label`, `issue`, `mark 2 done ["c"]`,
	})...)
	want := []effect.RemoveLabels{
		{Names: []string{"a", "b", "c"}, Issue: "I_7", IDs: []string{"L_a", "L_b", "L_c"}},
		{Names: []string{"b"}, Issue: "I_7", IDs: []string{"L_b"}},
		{Names: []string{"c"}, Issue: "I_7", IDs: []string{"L_c"}},
	}
	if diff := cmp.Diff(want, *wrote); diff != "" || out.Err != nil {
		t.Errorf("%v, wrote (-want +got):\n%s", out.Err, diff)
	}
}

// TestLabelWrittenBeforeFailure checks that a label which an uncertain write added counts as added,
// even if an earlier label is refused when the write is repeated.
func TestLabelWrittenBeforeFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, addBug, addDocs, lockIt)
	tries := 0
	f.host.write = func(ctx context.Context, e effect.Effect) error {
		if tries++; tries == 1 {
			return holding(f, triage.ErrUncertain, "docs")(ctx, e)
		}
		return errors.New("422")
	}
	out := f.run(t.Context(), f.made)
	f.wantLog(t, slices.Concat([]string{`mark 0 trying []`, `mark 1 trying []`, `write add_labels`}, looked, []string{
		`write add_labels`, `mark 1 done ["docs"]`, `mark 0 trying []`, `write add_labels`, `mark 0 failed [] 422`,
	})...)
	if got := states(out); got != "failed: 422; done; not_run" || out.Executed() != 1 {
		t.Errorf("got %s, %d carried out", got, out.Executed())
	}
}

// TestRemovalsApart checks that labels are removed one by one if the host refuses to remove them
// together.
func TestRemovalsApart(t *testing.T) {
	t.Parallel()
	f := removing(t, "a", "b")
	removals(f, func(e effect.RemoveLabels) error {
		if len(e.Names) > 1 {
			return errors.New("no GraphQL")
		}
		return nil
	})
	out := f.run(t.Context(), f.made)
	f.wantLog(t,
		`mark 0 trying []`, `mark 1 trying []`, `write remove_label`,
		`mark 0 trying []`, `write remove_label`, `mark 0 done ["a"]`,
		`mark 1 trying []`, `write remove_label`, `mark 1 done ["b"]`,
	)
	if out.Err != nil || out.Executed() != 2 {
		t.Errorf("got %s, %v", states(out), out.Err)
	}
}

// TestRemovalsUnusable checks that labels are removed one by one if the API for several labels
// never returns a usable response.
func TestRemovalsUnusable(t *testing.T) {
	t.Parallel()
	f := removing(t, "a", "b")
	removals(f, func(e effect.RemoveLabels) error {
		if len(e.Names) > 1 {
			return triage.ErrUncertain
		}
		return nil
	})
	out := f.run(t.Context(), f.made)
	f.wantLog(t, slices.Concat([]string{`mark 0 trying []`, `mark 1 trying []`, `write remove_label`}, looked, []string{
		`mark 0 trying []`, `write remove_label`, `mark 0 done ["a"]`,
		`mark 1 trying []`, `write remove_label`, `mark 1 done ["b"]`,
	})...)
	if out.Err != nil || out.Executed() != 2 {
		t.Errorf("got %s, %v", states(out), out.Err)
	}
}

// TestRemovalsByName checks that labels whose ids are not certain are removed one by one.
func TestRemovalsByName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*triage.Issue)
		want   []int // number of labels in each write
	}{
		{"an issue without an id", func(i *triage.Issue) { i.NodeID = "" }, []int{1, 1, 1}},
		{"labels without ids", func(i *triage.Issue) { i.LabelIDs = nil }, []int{1, 1, 1}},
		{"the last one without an id", func(i *triage.Issue) { i.LabelIDs = i.LabelIDs[:2] }, []int{2, 1}},
		{"another case", func(i *triage.Issue) { i.LabelIDs[0].Name = "A" }, []int{3}},
		{"two that differ in case", func(i *triage.Issue) {
			i.LabelIDs[0].Name = "ſ"
			i.LabelIDs[1].Name = "S"
			i.LabelIDs[2].Name = "c"
		}, []int{1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			names := []string{"a", "b", "c"}
			if strings.HasPrefix(tt.name, "two") {
				names = []string{"c", "s", "x"}
			}
			f := removing(t, names...)
			tt.change(&f.target.Issue)
			wrote := removals(f, func(effect.RemoveLabels) error { return nil })
			if out := f.run(t.Context(), f.made); out.Executed() != 3 {
				t.Errorf("got %s", states(out))
			}
			var got []int
			for _, e := range *wrote {
				got = append(got, len(e.Names))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("labels of each write (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemovalsMany checks that more than 100 labels are removed by several writes.
func TestRemovalsMany(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 130 {
		names = append(names, fmt.Sprint("l", i))
	}
	f := removing(t, names...)
	wrote := removals(f, func(e effect.RemoveLabels) error {
		if len(e.Names) != len(e.IDs) {
			t.Errorf("%d labels with %d ids", len(e.Names), len(e.IDs))
		}
		return nil
	})
	out := f.run(t.Context(), f.made)
	if len(*wrote) != 2 || len((*wrote)[0].Names) != 100 || len((*wrote)[1].Names) != 30 || out.Executed() != 130 {
		t.Errorf("%d writes, %d carried out", len(*wrote), out.Executed())
	}
}
