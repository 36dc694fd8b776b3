package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

const agent = "http://a"

// A watched queue calls before, which may be nil, with the number of each change, from 1.
type watched struct {
	queue.Queue

	calls  atomic.Int64
	before func(call int64) error
}

func (q *watched) call() error {
	n := q.calls.Add(1)
	if q.before == nil {
		return nil
	}
	return q.before(n)
}

func (q *watched) Retry(ctx context.Context, t queue.Seen, by string) (queue.State, error) {
	if err := q.call(); err != nil {
		return "", err
	}
	return q.Queue.Retry(ctx, t, by)
}

// each runs a test on every kind of queue.
func each(t *testing.T, test func(t *testing.T, q *watched)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, &watched{Queue: queue.New(queue.Options{})})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, &watched{Queue: s.Queue()})
	})
}

// add adds n tasks, named from first on, that wait for the agent.
func add(t *testing.T, q queue.Queue, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		task := queue.Task{ID: fmt.Sprint(i), Agent: agent, Repo: "o/r", Issue: i, Message: []byte("{}")}
		if _, err := q.Enqueue(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
}

// fail adds n failed tasks.
func fail(t *testing.T, q queue.Queue, first, n int) {
	t.Helper()
	add(t, q, first, n)
	for i := first; i < first+n; i++ {
		if err := q.Cancel(t.Context(), queue.Seen{ID: fmt.Sprint(i)}, "test"); err != nil {
			t.Fatal(err)
		}
	}
}

// entries returns how often the log of a task has an entry.
func entries(t *testing.T, q queue.Queue, id, what string) (n int) {
	t.Helper()
	d, err := q.Inspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Log {
		if e.What == what && e.Who == "ann" {
			n++
		}
	}
	return n
}

var retry = bulk.Act{Verb: bulk.Retry, By: "ann"}

// TestKilled ends an act after some tasks, and continues it: from the start, or where it ended. In the end
// each task was changed once.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, q *watched) {
		const n = 40
		for kill := 1; kill <= 20; kill++ {
			fail(t, q, 1000*kill, n)
			ctx, cancel := context.WithCancel(t.Context())
			q.calls.Store(0)
			q.before = func(call int64) error {
				if int(call) == kill {
					cancel()
				}
				return nil
			}
			got, err := bulk.Run(ctx, q, retry)
			cancel()
			q.before = nil
			if !errors.Is(err, context.Canceled) || got.Changed >= n || got.Next == 0 {
				t.Errorf("killed at call %d: got %+v, %v", kill, got, err)
			}
			again := retry
			if kill%2 == 0 {
				again.Filter.Before = got.Next
			}
			rest, err := bulk.Run(t.Context(), q, again)
			if sum := got.Add(rest); err != nil || sum.Changed != n || sum.Failed > 0 || sum.Next != 0 {
				t.Errorf("killed at call %d, then: got %+v, %v", kill, sum, err)
			}
			for i := range n {
				if got := entries(t, q, fmt.Sprint(1000*kill+i), "retried"); got != 1 {
					t.Errorf("killed at call %d: task %d was retried %d times", kill, i, got)
				}
			}
		}
	})
}

// TestMeanwhile checks that tasks that others change during the act are skipped, and that tasks which
// fail during the act are not changed.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, q *watched) {
		fail(t, q, 1, 300)
		ready := make(chan struct{})
		q.before = func(call int64) error {
			if call != 1 {
				<-ready
				return nil
			}
			defer close(ready)
			fail(t, q.Queue, 1001, 5)
			_, err := q.Queue.Retry(t.Context(), queue.Seen{ID: "290"}, "bob") // it is on the first page
			return errors.Join(err, errors.New("disk on fire"))
		}
		got, err := bulk.Run(t.Context(), q, retry)
		if err != nil || got.Changed != 298 || got.Failed != 1 || got.Skipped != 1 || got.Next != 0 || len(got.Failures) != 1 || got.Failures[0].Err.Error() != "disk on fire" {
			t.Errorf("got %+v, %v", got, err)
		}
		for i := range 5 {
			if entries(t, q, fmt.Sprint(1001+i), "retried") != 0 {
				t.Errorf("the newer task %d was retried", i)
			}
		}
	})
}

// TestParts checks that an act in parts of each size changes every task once.
func TestParts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, q *watched) {
		fail(t, q, 1, 23)
		for _, limit := range []int{1, 2, 7, 22, 23, 24} {
			var sum bulk.Result
			for parts := 1; ; parts++ {
				act := bulk.Act{Verb: bulk.AskAgain, By: "ann", Limit: limit, Filter: queue.Filter{State: queue.Failed, Before: sum.Next}}
				got, err := bulk.Run(t.Context(), q, act)
				if err != nil || got.Changed+got.Skipped > limit {
					t.Fatalf("limit %d: got %+v, %v", limit, got, err)
				}
				if sum = sum.Add(got); sum.Next == 0 {
					break
				}
				if parts > 23 {
					t.Fatalf("limit %d: it does not end", limit)
				}
			}
			if sum.Changed != 23 {
				t.Errorf("limit %d: got %+v", limit, sum)
			}
			sum, err := bulk.Run(t.Context(), q, bulk.Act{Verb: bulk.Cancel, Filter: queue.Filter{State: queue.Pending}})
			if err != nil || sum.Changed != 23 {
				t.Fatalf("got %+v, %v", sum, err)
			}
		}
	})
}

// TestVerbs checks which tasks each verb changes.
func TestVerbs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, q *watched) {
		fail(t, q, 1, 2)
		add(t, q, 11, 3)
		if _, err := q.ClaimNext(t.Context(), agent, queue.ClaimOptions{By: "bot", Lease: time.Hour}); err != nil {
			t.Fatal(err)
		}
		steps := []struct {
			act  bulk.Act
			want bulk.Result
		}{
			{bulk.Act{Verb: bulk.Release}, bulk.Result{Changed: 1}},
			{bulk.Act{Verb: bulk.Release}, bulk.Result{}},
			{bulk.Act{Verb: bulk.Retry, Filter: queue.Filter{State: queue.Pending}}, bulk.Result{Skipped: 3}},
			{bulk.Act{Verb: bulk.Cancel, Tasks: []queue.Seen{{ID: "11"}, {ID: "1"}, {ID: "none"}}}, bulk.Result{Changed: 1, Skipped: 2}},
			{bulk.Act{Verb: bulk.Cancel, Tasks: []queue.Seen{}}, bulk.Result{}},
			{bulk.Act{Verb: bulk.Cancel, Filter: queue.Filter{State: queue.Pending, Issue: 12}}, bulk.Result{Changed: 1}},
			{bulk.Act{Verb: bulk.AskAgain, Filter: queue.Filter{Reason: "cancelled by", Repo: "O/R"}}, bulk.Result{Changed: 4}},
		}
		for i, step := range steps {
			got, err := bulk.Run(t.Context(), q, step.act)
			if diff := cmp.Diff(step.want, got, cmpopts.IgnoreFields(bulk.Result{}, "Skips")); err != nil || diff != "" {
				t.Errorf("step %d: %v (-want +got):\n%s", i, err, diff)
			}
		}
	})
}

// TestSeen changes tasks after an operator saw them, and then acts on what the operator saw.
func TestSeen(t *testing.T) {
	t.Parallel()
	claim := func(t *testing.T, q *watched) queue.Claim {
		t.Helper()
		c, err := q.ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	tests := []struct {
		verb  bulk.Verb
		tasks func(t *testing.T, q *watched) // what the operator sees of task 1
		then  func(t *testing.T, q *watched) error
		want  error // why task 1 is skipped
	}{
		{bulk.Cancel, func(t *testing.T, q *watched) { add(t, q, 1, 1); claim(t, q) }, func(t *testing.T, q *watched) error {
			_, err := q.Complete(t.Context(), queue.Ref{ID: "1"}, []byte("{}"))
			return err
		}, queue.ErrChanged},
		{bulk.Release, func(t *testing.T, q *watched) { add(t, q, 1, 1); claim(t, q) }, func(t *testing.T, q *watched) error {
			err := q.ReleaseClaim(t.Context(), queue.Ref{ID: "1"}, 0)
			claim(t, q)
			return err
		}, queue.ErrLost},
		{bulk.Release, func(t *testing.T, q *watched) { add(t, q, 1, 1) }, func(t *testing.T, q *watched) error { claim(t, q); return nil }, queue.ErrState},
		{bulk.AskAgain, func(t *testing.T, q *watched) { fail(t, q, 1, 1) }, func(t *testing.T, q *watched) error {
			_, err := q.Queue.Retry(t.Context(), queue.Seen{ID: "1"}, "bob")
			c := claim(t, q)
			return errors.Join(err, q.FailClaim(t.Context(), queue.Ref{ID: c.ID}, "no"))
		}, queue.ErrChanged},
		{bulk.Retry, func(t *testing.T, q *watched) { fail(t, q, 1, 1) }, func(t *testing.T, q *watched) error {
			_, err := q.Queue.Retry(t.Context(), queue.Seen{ID: "1"}, "bob")
			return err
		}, queue.ErrChanged},
	}
	for _, tt := range tests {
		each(t, func(t *testing.T, q *watched) {
			tt.tasks(t, q)
			before, err := q.Inspect(t.Context(), "1")
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.then(t, q); err != nil {
				t.Fatal(err)
			}
			meanwhile, err := q.Inspect(t.Context(), "1")
			if err != nil {
				t.Fatal(err)
			}
			act := bulk.Act{Verb: tt.verb, By: "ann", Tasks: []queue.Seen{before.Seen()}}
			got, err := bulk.Run(t.Context(), q, act)
			if err != nil || got.Skipped != 1 || len(got.Skips) != 1 || got.Skips[0].ID != "1" || !errors.Is(got.Skips[0].Err, tt.want) {
				t.Errorf("%s: got %+v, %v, want it skipped because of: %v", tt.verb, got, err, tt.want)
			}
			after, err := q.Inspect(t.Context(), "1")
			if diff := cmp.Diff(meanwhile, after); err != nil || diff != "" {
				t.Errorf("%s changed the task: %v\n%s", tt.verb, err, diff)
			}
		})
	}
}

// TestUnavailable checks that an act stops when the queue cannot be written, and reports what was done.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, q *watched) {
		fail(t, q, 1, 50)
		q.before = func(call int64) error {
			if call > 20 {
				return queue.ErrUnavailable
			}
			return nil
		}
		got, err := bulk.Run(t.Context(), q, retry)
		if !errors.Is(err, queue.ErrUnavailable) || got.Changed != 20 || got.Failed != 0 || got.Next == 0 || q.calls.Load() > 40 {
			t.Errorf("got %+v, %v after %d calls", got, err, q.calls.Load())
		}
		q.before = nil
		again := retry
		again.Filter.Before = got.Next
		if rest, err := bulk.Run(t.Context(), q, again); err != nil || rest.Changed != 30 {
			t.Errorf("then: got %+v, %v", rest, err)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		act  bulk.Act
		want string
	}{
		{bulk.Act{Verb: "delete"}, `want one of the verbs retry, ask-again, cancel, release, got "delete"`},
		{bulk.Act{Verb: bulk.Cancel}, "cancel changes tasks in the state pending, claimed, completed; name one of them"},
		{bulk.Act{Verb: bulk.Release, Filter: queue.Filter{State: queue.Done}}, "release changes tasks in the state claimed; name one of them"},
		{bulk.Act{Verb: bulk.Retry, Limit: 1001}, "want a limit of at most 1000 tasks"},
		{bulk.Act{Verb: bulk.Retry, Tasks: make([]queue.Seen, 1001)}, "want a limit of at most 1000 tasks"},
	}
	for _, tt := range tests {
		if _, err := bulk.Run(t.Context(), queue.New(queue.Options{}), tt.act); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: got %v, want %s", tt.act.Verb, err, tt.want)
		}
	}
}
