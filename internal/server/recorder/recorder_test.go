package recorder

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// A rig is a Recorder on a database, with the calls of two accounts.
type rig struct {
	*testing.T

	clock    *queuetest.Clock
	store    *sqlite.Store
	accounts []budget.Account
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, clock: queuetest.NewClock()}
	var err error
	if r.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{Now: r.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	return r
}

func (r *rig) recorder() *Recorder {
	r.Helper()
	one, err := New(Options{History: r.store.History(), Budget: func() budget.Report { return budget.Report{Accounts: r.accounts} }, Now: r.clock.Now})
	if err != nil {
		r.Fatal(err)
	}
	return one
}

func (r *rig) read() history.Series {
	r.Helper()
	s, err := r.store.History().Read(r.Context(), history.Query{Range: history.Ranges()[0]})
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// calls formats the accounts with their calls in the last hour.
func (r *rig) calls() string {
	r.Helper()
	text := ""
	for _, b := range r.read().Budgets {
		last := b.Points[len(b.Points)-1]
		text += fmt.Sprintf("%s %d left %d of %d; ", b.Account, b.Calls(), last.Remaining, last.Limit)
	}
	return text
}

// TestCalls records only calls that are not recorded yet, also by a later Recorder of the process.
func TestCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.recorder()
	for _, tt := range []struct {
		accounts []budget.Account
		want     string
	}{
		{nil, ""},
		{[]budget.Account{{Name: "bot", Resource: "core", Total: 7, Left: 4993, Limit: 5000}}, "bot 7 left 4993 of 5000; "},
		{[]budget.Account{{Name: "bot", Resource: "core", Total: 7, Left: 4000, Limit: 5000}}, "bot 7 left 4993 of 5000; "},
		{
			[]budget.Account{{Name: "bot", Resource: "core", Total: 9, Left: 4991, Limit: 5000}, {Name: "bot", Resource: "search", Total: 1}},
			"bot 9 left 4991 of 5000; bot, search 1 left -1 of 0; ",
		},
	} {
		r.accounts = tt.accounts
		if err := first.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.calls(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	second := r.recorder()
	r.accounts[0].Total += 5
	if err := second.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := r.calls(), "bot 14 left 4991 of 5000; bot, search 1 left -1 of 0; "; got != want {
		t.Errorf("after a reload: got %s, want %s", got, want)
	}

	// A failed write is repeated with the next pass.
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	r.accounts[0].Total++
	if err := second.record(cancelled); err == nil {
		t.Error("a cancelled pass has no error")
	}
	r.accounts[0].Total++
	if err := second.Run(cancelled); err == nil { // records at its end what is left
		t.Error("Run ended without the error of its context")
	}
	if got, want := r.calls(), "bot 16 left 4991 of 5000; bot, search 1 left -1 of 0; "; got != want {
		t.Errorf("after the end: got %s, want %s", got, want)
	}
}

// TestManySteps records more tasks than one step takes in one pass.
func TestManySteps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 600 {
		if _, err := r.store.Queue().Enqueue(t.Context(), queue.Task{ID: fmt.Sprint(n), Repo: "o/r", Message: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if err := r.store.Queue().Cancel(t.Context(), queue.Seen{ID: fmt.Sprint(n)}, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	r.clock.Advance(10 * time.Minute)
	if err := r.recorder().record(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := r.store.History().Record(t.Context()); err != nil || got.Facts != 0 {
		t.Errorf("left %d facts, %v", got.Facts, err)
	}
	if c := r.read().Total; c.Received != 600 || c.Failed != 600 || c.Outcomes[history.Cancelled] != 600 {
		t.Errorf("got %+v, want 600 received and cancelled", c)
	}
}

func TestNoHistory(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a Recorder without a history is accepted")
	}
}
