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
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// decided returns a decision that an agent made before.
func decided(t *testing.T, decision protocol.DecisionType, actions ...string) *protocol.DecisionMessage {
	t.Helper()
	asked := 0
	m, err := answers(&asked, decision, actions...)(t.Context(), protocol.TaskMessage{TaskID: runTask})
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// apply carries out a decision that was made before.
func apply(t *testing.T, o options, e triage.Delivery, m *protocol.DecisionMessage) (runner.Report, error) {
	t.Helper()
	o.Live = false
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	return r.Apply(t.Context(), o.Task, e, m)
}

// written returns the calls that changed something.
func written(gh *githubtest.Server) []string {
	return slices.DeleteFunc(gh.Log(), func(line string) bool { return strings.HasPrefix(line, "GET ") })
}

const (
	labelPost   = "POST /repos/Codertocat/Hello-World/issues/1/labels 200"
	commentPost = "POST /repos/Codertocat/Hello-World/issues/1/comments 201"
	issuePatch  = "PATCH /repos/Codertocat/Hello-World/issues/1 200"
)

// TestSettle applies a decision to an issue that has changed since.
func TestSettle(t *testing.T) {
	t.Parallel()
	const fires = "rules:\n  - {id: r, on: issues.opened, then: [{add_label: triage}]}\n"
	const onDocs = "rules:\n  - {id: r, on: issues.opened, when: 'label(\"docs\")', then: [{add_label: triage}]}\n"
	stops, escalates := strings.Replace(fires, "on:", "stop: true, on:", 1), strings.Replace(fires, "{add_label: triage}", "escalate", 1)
	const closes = "policy: {allow_close: true}\n"
	closing := `{"type":"close_issue"}`
	tests := []struct {
		name, config string
		since        func(*githubtest.Repo)
		decision     protocol.DecisionType // empty: no agent was asked
		actions      []string
		status       runner.Status
		by           string
		calls        []string
	}{
		{name: "nothing", decision: protocol.LabelAndRespond, actions: []string{labelDocs, hello}, status: runner.StatusApplied, by: "http://agent/task", calls: []string{labelPost, commentPost}},
		{name: "deleted", since: func(r *githubtest.Repo) { r.DeleteIssue(1) }, decision: protocol.LabelAndRespond, actions: []string{hello}, status: runner.StatusSkipped},
		{name: "transferred", since: func(r *githubtest.Repo) { r.TransferIssue(1, "octo/other", 3) }, decision: protocol.LabelAndRespond, actions: []string{hello}, status: runner.StatusSkipped},
		{name: "closed", config: closes, since: func(r *githubtest.Repo) { r.CloseAs("mona", 1, "completed") }, decision: protocol.Close, actions: []string{closing}, status: runner.StatusSkipped, by: "http://agent/task"},
		{name: "labelled", since: func(r *githubtest.Repo) { r.LabelAs("mona", 1, "docs") }, decision: protocol.LabelAndRespond, actions: []string{labelDocs}, status: runner.StatusSkipped, by: "http://agent/task"},
		{
			name: "labelled, and the label taken off", since: func(r *githubtest.Repo) { r.LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "docs") },
			decision: protocol.LabelAndRespond, actions: []string{labelDocs}, status: runner.StatusSkipped, by: "http://agent/task",
		},
		{name: "closing is not allowed", decision: protocol.Close, actions: []string{closing, hello}, status: runner.StatusApplied, by: "http://agent/task", calls: []string{commentPost}},
		{name: "closing is allowed", config: closes, decision: protocol.Close, actions: []string{closing}, status: runner.StatusApplied, by: "http://agent/task", calls: []string{issuePatch}},
		{name: "skip", decision: protocol.Skip, actions: []string{hello}, status: runner.StatusSkipped, by: "http://agent/task"},
		{name: "escalate", decision: protocol.Escalate, actions: []string{hello}, status: runner.StatusEscalated, by: "http://agent/task"},
		{name: "a rule fires", config: fires, decision: protocol.LabelAndRespond, actions: []string{labelDocs}, status: runner.StatusApplied, by: "rules, http://agent/task", calls: []string{labelPost}},
		{name: "a rule stops", config: stops, decision: protocol.LabelAndRespond, actions: []string{labelDocs}, status: runner.StatusApplied, by: "rules", calls: []string{labelPost}},
		{name: "a rule escalates", config: escalates, decision: protocol.LabelAndRespond, actions: []string{labelDocs}, status: runner.StatusEscalated, by: "rules"},
		{name: "a rule fires on what is new", config: onDocs, since: func(r *githubtest.Repo) { r.LabelAs("mona", 1, "docs") }, status: runner.StatusApplied, by: "rules", calls: []string{labelPost}},
		{name: "a rule does not fire on what was", config: strings.Replace(onDocs, "docs", "bug", 1), since: func(r *githubtest.Repo) { r.UnlabelAs("mona", 1, "bug") }, status: runner.StatusSkipped, by: "rules"},
		{name: "nobody was asked", status: runner.StatusSkipped, by: "rules"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, tt.config)
			if tt.since != nil {
				tt.since(gh.Repo(journalRepo))
			}
			var m *protocol.DecisionMessage
			if tt.decision != "" {
				m = decided(t, tt.decision, tt.actions...)
			}
			rep, err := apply(t, o, e, m)
			if err != nil || rep.Status != tt.status || rep.By != tt.by {
				t.Errorf("got %v, status %s, by %q, want %s by %q", err, rep.Status, rep.By, tt.status, tt.by)
			}
			if calls := written(gh); !slices.Equal(calls, tt.calls) {
				t.Errorf("got calls %q, want %q", calls, tt.calls)
			}
		})
	}
}

// TestSettlePull checks that a decision on a pull request is carried out, although the event is old.
func TestSettlePull(t *testing.T) {
	t.Parallel()
	gh, _, o := world(t, "")
	gh.Repo(repoName).AddIssue(githubtest.Issue{Number: 7, PullRequest: true})
	rep, err := apply(t, o, pullOpened(t, o.Clock.Now().Add(-time.Hour)), decided(t, protocol.LabelAndRespond, labelDocs))
	if err != nil || rep.ReadAgain != "" || rep.Executed != 1 || !slices.Contains(gh.Issue(repoName, 7).Labels, "docs") || callsOf(gh)[0] != "GET labels/docs" {
		t.Errorf("got %v, %q, %+v, calls %q", err, rep.ReadAgain, rep.Actions, callsOf(gh))
	}
}

// TestSettleRuleFails checks that a decision is ignored if a rule fails, because the agent must not
// decide in place of that rule.
func TestSettleRuleFails(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "rules:\n  - {id: r, on: issues.opened, when: 'int(issue.title) > 3', then: [{comment: Hello.}]}\n")
	rep, err := apply(t, o, e, decided(t, protocol.LabelAndRespond, labelDocs))
	if _, failed := errors.AsType[*rules.EvalError](err); !failed || len(written(gh)) > 0 || !slices.Contains(rep.Warnings, "the agent's decision is ignored: a rule failed") {
		t.Errorf("got %v, warnings %q, calls %q", err, rep.Warnings, written(gh))
	}
}

// TestSettleReads checks when a decision needs no read of the issue.
func TestSettleReads(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, "")
	ours := e
	ours.Sender.Login = runner.DefaultBot
	tests := map[string]struct {
		e        triage.Delivery
		decision protocol.DecisionType
	}{"it writes nothing": {e, protocol.Skip}, "our own event": {ours, protocol.LabelAndRespond}}
	for name, tt := range tests {
		if rep, err := apply(t, o, tt.e, decided(t, tt.decision, labelDocs)); err != nil || rep.Status != runner.StatusSkipped || len(gh.Log()) > 0 {
			t.Errorf("%s: got %v, %s, calls %q", name, err, rep.Status, gh.Log())
		}
	}
	o.Host, o.DryRun = runner.Host{}, true
	if rep, err := apply(t, o, e, decided(t, protocol.LabelAndRespond, labelDocs)); err != nil || rep.Status != runner.StatusDryRun {
		t.Errorf("without a token: got %v, %s", err, rep.Status)
	}
}

// TestSettleUnusable checks that nothing is written if the decision is not valid for the task.
func TestSettleUnusable(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*protocol.DecisionMessage){
		"another task": func(m *protocol.DecisionMessage) { m.TaskID = "b" + runTask[1:] },
		"no task":      func(m *protocol.DecisionMessage) { m.TaskID = "" },
		"too much":     func(m *protocol.DecisionMessage) { m.Actions = slices.Repeat(m.Actions, 201) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "")
			m := decided(t, protocol.LabelAndRespond, hello)
			change(m)
			rep, err := apply(t, o, e, m)
			if _, ok := errors.AsType[*runner.AgentError](err); !ok || rep.Status != runner.StatusFailed || len(written(gh)) > 0 {
				t.Errorf("got %v, status %s, calls %q", err, rep.Status, written(gh))
			}
		})
	}
}

// errStop is the error of a guard or a gate that stops a run.
var errStop = errors.New("the lease is lost")

// count returns a guard that fails when it is called the n-th time.
func count(n int) func(context.Context) error {
	calls := 0
	return func(context.Context) error {
		if calls++; calls == n {
			return errStop
		}
		return nil
	}
}

// TestSettleHalted stops an attempt before each write in turn, by the guard and by the gate. The
// next attempt must make the remaining writes, and none twice.
func TestSettleHalted(t *testing.T) {
	t.Parallel()
	calls := []string{labelPost, commentPost, issuePatch}
	for _, by := range []string{"guard", "gate"} {
		for n := 1; n <= len(calls)+1; n++ {
			t.Run(fmt.Sprintf("%s %d", by, n), func(t *testing.T) {
				t.Parallel()
				gh, e, o := world(t, "policy: {allow_close: true}\n")
				keepIn(&o, memory.New())
				o.Memory.Journal, o.Live = memory.NewJournal(), false
				m := decided(t, protocol.Close, labelDocs, hello, `{"type":"close_issue"}`)
				ctx, stopped := t.Context(), o
				if by == "guard" {
					stopped.Host.Guard = count(n)
				} else {
					ctx = effect.WithGate(ctx, count(n))
				}
				r, err := runner.New(stopped.Options)
				if err != nil {
					t.Fatal(err)
				}
				rep, err := r.Apply(ctx, o.Task, e, m)
				if halted := errors.Is(err, triage.ErrHalted) && errors.Is(err, errStop); halted != (n <= len(calls)) || rep.Executed != n-1 {
					t.Errorf("got %v, %d executed", err, rep.Executed)
				}
				if got := written(gh); !slices.Equal(got, calls[:n-1]) {
					t.Errorf("got calls %q", got)
				}
				if _, err := o.Memory.Store.Load(t.Context(), journalRepo, 1); errors.Is(err, memory.ErrNotFound) != (n == 1) {
					t.Errorf("remembered: got %v", err)
				}
				o.Task.First = false
				if rep, err = apply(t, o, e, m); err != nil || rep.Executed != len(calls) {
					t.Errorf("the second attempt: got %v, %+v", err, rep.Actions)
				}
				if got := written(gh); !slices.Equal(got, calls) {
					t.Errorf("got calls %q after the second attempt", got)
				}
			})
		}
	}
}

// TestSettleHaltedInDoubt stops an attempt after a write of unknown outcome. The next attempt must
// look the outcome up.
func TestSettleHaltedInDoubt(t *testing.T) {
	t.Parallel()
	const path = "/repos/*/*/issues/1/comments"
	tests := []struct {
		name  string
		fault []githubtest.Fault
		asked int // the guard fails when it is called the n-th time
	}{
		{"not carried out", []githubtest.Fault{{Method: "POST", Path: path, Times: 1, CutBefore: true}}, 2},
		{"carried out, and nobody can tell", []githubtest.Fault{
			{Method: "POST", Path: path, Times: 1, CutAfter: true}, {Method: "GET", Path: path, Times: 3, Status: 500},
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "")
			o.Memory.Journal = memory.NewJournal()
			for _, f := range tt.fault {
				gh.Fault(f)
			}
			m := decided(t, protocol.LabelAndRespond, hello)
			stopped := o
			stopped.Host.Guard = count(tt.asked)
			if _, err := apply(t, stopped, e, m); err == nil {
				t.Error("the first attempt ended well")
			}
			o.Task.First = false
			if _, err := apply(t, o, e, m); err != nil || len(said(gh)) != 1 {
				t.Errorf("got %v, comments %q", err, said(gh))
			}
		})
	}
}

// TestSettleLag stops an attempt after a write whose result GitHub shows ten seconds later, and
// starts the next attempt at once. That attempt must see all results before it writes.
func TestSettleLag(t *testing.T) {
	t.Parallel()
	actions := []string{labelDocs, hello, `{"type":"close_issue"}`}
	calls := []string{labelPost, commentPost, issuePatch}
	tests := []struct {
		name      string
		journal   bool
		decides   time.Duration // how long the agent of the second attempt takes; 0: the decision is given
		answered  int           // the first attempt loses the answer of the write after these
		looks     int           // reads of the issue by the second attempt
		slept     time.Duration
		lag       time.Duration
		notBegun  bool // the write without an answer did not reach GitHub
		postponed bool // the first attempt ends before the write, so nothing is unknown
	}{
		{name: "a label, with a journal", journal: true, lag: 10 * time.Second, looks: 5, slept: 10 * time.Second},
		{name: "a comment, with a journal", journal: true, answered: 1, lag: 3 * time.Second, looks: 3, slept: 3 * time.Second},
		{name: "the close, with a journal", journal: true, answered: 2, lag: 10 * time.Second, looks: 5, slept: 10 * time.Second},
		{name: "a lost comment, with a journal", journal: true, answered: 1, notBegun: true, looks: 6, slept: 11 * time.Second},
		{name: "nothing begun, with a journal", journal: true, answered: 1, postponed: true, looks: 1},
		{name: "a label", lag: 10 * time.Second, looks: 2, slept: 11 * time.Second},
		{name: "a comment", answered: 1, lag: 10 * time.Second, looks: 2, slept: 11 * time.Second},
		{name: "the close", answered: 2, lag: 10 * time.Second, looks: 2, slept: 11 * time.Second},
		{name: "no lag", answered: 2, looks: 1},
		{name: "a slow decision", answered: 1, lag: 10 * time.Second, decides: 11 * time.Second, looks: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "policy: {allow_close: true}\n")
			gh.Lag(tt.lag)
			if tt.journal {
				o.Memory.Journal = memory.NewJournal()
			}
			now := o.Clock.Now()
			o.Clock.Now = func() time.Time { return now }
			pass := func(d time.Duration) { now = now.Add(d); gh.Advance(d) }
			m := decided(t, protocol.Close, actions...)
			stop, cancel := context.WithCancel(t.Context())
			stopped := o
			stopped.Clock.Sleep = func(context.Context, time.Duration) error { cancel(); return context.Canceled }
			n := tt.answered
			switch {
			case tt.postponed:
				stopped.Host.Guard = count(n + 1)
			case tt.notBegun:
				gh.Fault(githubtest.Fault{Method: "POST", Nth: n + 1, CutBefore: true})
			case n < 2:
				gh.Fault(githubtest.Fault{Method: "POST", Nth: n + 1, CutAfter: true})
			default:
				gh.Fault(githubtest.Fault{Method: "PATCH", CutAfter: true})
			}
			r, err := runner.New(stopped.Options)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := r.Apply(stop, o.Task, e, m)
			if want := map[bool]triage.State{false: triage.Unknown, true: triage.Failed}[tt.postponed]; err == nil || rep.Actions[n].State != want {
				t.Errorf("the first attempt: got %v, %+v", err, rep.Actions)
			}
			gh.ClearFaults()
			before := len(gh.Log())
			var slept time.Duration
			o.Task.First = false
			o.Clock.Sleep = func(ctx context.Context, d time.Duration) error { slept += d; pass(d); return ctx.Err() }
			o.Agent.Agent = agentFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				pass(tt.decides)
				return *m, nil
			})
			if r, err = runner.New(o.Options); err != nil {
				t.Fatal(err)
			}
			if tt.decides > 0 {
				rep, err = r.Run(t.Context(), o.Task, e)
			} else {
				rep, err = r.Apply(t.Context(), o.Task, e, m)
			}
			if err != nil {
				t.Errorf("the second attempt: got %v, %+v", err, rep.Actions)
			}
			looks := -1 // both read the issue before the decision
			for _, line := range gh.Log()[before:] {
				if line == "GET /repos/Codertocat/Hello-World/issues/1 200" {
					looks++
				}
			}
			if looks != tt.looks || slept != tt.slept {
				t.Errorf("got %d reads of the issue and a wait of %s, want %d and %s", looks, slept, tt.looks, tt.slept)
			}
			made := slices.DeleteFunc(written(gh), func(line string) bool { return strings.HasSuffix(line, "s cut") })
			for i := range made {
				made[i] = strings.TrimSuffix(made[i], " cut")
			}
			if !slices.Equal(made, calls) {
				t.Errorf("got calls %q", made)
			}
		})
	}
}

// TestSettleAgain checks that a later attempt repeats no write, even if the agent decides
// differently or people comment in between. The event may lack the time of the issue's last change.
func TestSettleAgain(t *testing.T) {
	t.Parallel()
	for _, journal := range []bool{true, false} {
		for _, dated := range []bool{true, false} {
			t.Run(fmt.Sprintf("journal %t, dated %t", journal, dated), func(t *testing.T) {
				t.Parallel()
				gh, e, o := world(t, "")
				if !dated {
					e.Issue.UpdatedAt = time.Time{}
				}
				if journal {
					o.Memory.Journal = memory.NewJournal()
				}
				m := decided(t, protocol.LabelAndRespond, hello)
				if _, err := apply(t, o, e, m); err != nil {
					t.Fatal(err)
				}
				gh.Advance(time.Hour)
				gh.Repo(journalRepo).AddComment(1, "mona", "thanks")
				o.Task.First = false
				if journal {
					m = decided(t, protocol.LabelAndRespond, labelDocs)
				}
				rep, err := apply(t, o, e, m)
				if err != nil || rep.Executed != 1 || !slices.Equal(written(gh), []string{commentPost}) {
					t.Errorf("got %v, %d executed, calls %q", err, rep.Executed, written(gh))
				}
			})
		}
	}
}

// TestSettleForLater checks that vetoes against a close count from the time at which the agent was
// asked, and not only from the time at which its decision is carried out.
func TestSettleForLater(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "policy: {allow_close: true}\n")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	asked := o.Clock.Now().Add(-48 * time.Hour)
	e.Issue.UpdatedAt = asked
	m := decided(t, protocol.Close, `{"type":"close_issue","after":"72h"}`)
	if _, err := apply(t, o, e, m); err != nil {
		t.Fatal(err)
	}
	r, err := store.Load(t.Context(), journalRepo, 1)
	if err != nil || len(r.Closings) != 1 || !r.Closings[0].At.Equal(asked) {
		t.Errorf("got %v, %+v", err, r.Closings)
	}
}

// TestSettleOvertaken stops an attempt before its second write, while another attempt at the task makes
// all writes. The record of the other attempt must stay.
func TestSettleOvertaken(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "")
	keepIn(&o, memory.New())
	o.Memory.Journal, o.Live = memory.NewJournal(), false
	m := decided(t, protocol.LabelAndRespond, labelDocs, hello)
	stopped, writes := o, 0
	stopped.Host.Guard = func(context.Context) error {
		if writes++; writes < 2 {
			return nil
		}
		o.Task.First = false
		if rep, err := apply(t, o, e, m); err != nil || rep.Executed != 2 {
			t.Errorf("the other attempt: got %v, %+v", err, rep)
		}
		return errStop
	}
	if rep, err := apply(t, stopped, e, m); !errors.Is(err, errStop) || rep.Executed != 1 {
		t.Errorf("got %v, %+v", err, rep)
	}
	r, err := o.Memory.Store.Load(t.Context(), journalRepo, 1)
	if err != nil || len(r.Tasks) != 1 || r.Tasks[0].Status != string(runner.StatusApplied) {
		t.Errorf("got %v, %+v", err, r.Tasks)
	}
}
