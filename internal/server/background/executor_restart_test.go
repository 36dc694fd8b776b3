package background_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/triage"
)

// TestRestart is check 33: the next server continues the tasks of one that stopped.
func TestRestart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		var nudges atomic.Int64
		r.host.set("agent:9001", func(http.ResponseWriter, *http.Request) { nudges.Add(1) })
		_, stop := r.start()
		r.enqueue(1)
		r.claim(time.Minute)
		stop()
		r.enqueue(2)
		r.complete(2, comment)
		r.enqueue(3)
		time.Sleep(time.Hour) // it is down
		nudges.Store(0)
		r.start()
		synctest.Wait()
		r.is(1, queue.Claimed) // claims do not expire while no server can receive heartbeats
		r.is(2, queue.Done)
		r.is(3, queue.Pending)
		if got := nudges.Load(); got != 1 {
			r.t.Errorf("got %d nudges", got)
		}
		time.Sleep(6*time.Minute + time.Second)
		r.is(1, queue.Pending)
	})
}

// TestRestored checks that no comment is repeated after queue and memory were restored from
// a backup that is older than the comment.
func TestRestored(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		for range 3 {
			q := queue.New(queue.Options{})
			r.q, r.o.Executor.Slots, r.journal, r.store = q, queue.NewSlots(queue.Options{}), memory.NewJournal(), memory.New()
			r.enqueue(1)
			r.complete(1, comment, addLabel)
			_, stop := r.start()
			time.Sleep(time.Minute)
			r.is(1, queue.Done)
			stop()
		}
		r.wrote(on(1, talkPost, labelPost)...)
	})
}

// TestCrash is check 24: the process ends between two actions, at every call in turn, and
// each time with a journal and without. No write is repeated, and none is missing.
func TestCrash(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			onAll(t, func(r *rig) {
				n := n
				if n >= 6 {
					n, r.journal, r.config = n-6, nil, "policy: {comment_interval: 0s}\n"
				}
				r.enqueue(1)
				r.complete(1, addLabel, comment, `{"type":"assign","assignees":["alice"]}`)
				r.gh.Repo(repo).AddUser("alice")
				r.gh.CutAt(n)
				// A killed process can no longer use the queue.
				whole, steps := r.q, r.o.Executor.Progress
				dying := freezable(r)
				r.slow = time.Millisecond
				_, stop := r.start()
				synctest.Wait() // until it waits for its first call
				dying.freeze()
				dying.renews.Store(true) // until it is killed, which is simulated at the call that is cut
				time.Sleep(time.Minute)
				dying.renews.Store(false)
				if got := len(r.gh.Log()); got < min(n+1, 5) {
					t.Errorf("got %d calls", got)
				}
				r.q, r.o.Executor.Progress = whole, steps
				r.gh.ClearFaults()
				r.start()
				time.Sleep(10 * time.Minute)
				r.is(1, queue.Done)
				issue := r.gh.Issue(repo, 1)
				if len(issue.Comments) != 1 || len(issue.Labels) != 1 || len(issue.Assignees) != 1 {
					t.Errorf("got %d comments, labels %v, assignees %v", len(issue.Comments), issue.Labels, issue.Assignees)
				}
				dying.thaw()
				stop()
				if got := r.gh.Issue(repo, 1); len(got.Comments) != 1 {
					t.Errorf("got %d comments in the end", len(got.Comments))
				}
			})
		})
	}
}

// A frozen queue answers no call until it is thawed. This simulates a process that is
// suspended.
type frozen struct {
	queue.Queue
	progress store.Progress // nil: the parts of a step are stored separately

	mu     sync.Mutex
	thawed chan struct{} // nil: it is not frozen
	renews atomic.Bool   // leases can be renewed while frozen
}

func (f *frozen) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

func (f *frozen) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.thawed)
	f.thawed = nil
}

func (f *frozen) wait() {
	f.mu.Lock()
	thawed := f.thawed
	f.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

func (f *frozen) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	f.wait()
	return f.Queue.LeaseDecisions(ctx, o)
}

func (f *frozen) Renew(ctx context.Context, h queue.Lease, d time.Duration) (time.Time, error) {
	if !f.renews.Load() {
		f.wait()
	}
	return f.Queue.Renew(ctx, h, d)
}

func (f *frozen) Advance(ctx context.Context, s store.Step) (store.Advanced, error) {
	if !f.renews.Load() {
		f.wait()
	}
	return f.progress.Advance(ctx, s)
}

func (f *frozen) MarkDone(ctx context.Context, h queue.Lease, report []byte) error {
	f.wait()
	return f.Queue.MarkDone(ctx, h, report)
}

func (f *frozen) ReleaseLease(ctx context.Context, h queue.Lease, p queue.Postponement) error {
	f.wait()
	return f.Queue.ReleaseLease(ctx, h, p)
}

func (f *frozen) RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error) {
	f.wait()
	return f.Queue.RequeueLeases(ctx, drains)
}

func (f *frozen) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	f.wait()
	return f.Queue.RequeueStale(ctx, l)
}

// freezable makes the rig use a queue that can be frozen, and returns it.
func freezable(r *rig) *frozen {
	f := &frozen{Queue: r.q, progress: r.o.Executor.Progress}
	if r.q = f; f.progress != nil {
		r.o.Executor.Progress = f
	}
	return f
}

// pausing suspends a process once, before a write: as a journal before the entry of the write is stored,
// or before the step that stores the entry.
type pausing struct {
	memory.Journal
	progress store.Progress
	at       int // index of the action
	once     sync.Once
	stand    func()
}

// pauses makes the rig suspend its process before the write of an action.
func pauses(r *rig, at int, stand func()) {
	p := &pausing{Journal: r.journal, progress: r.o.Executor.Progress, at: at, stand: stand}
	if r.journal = p; p.progress != nil {
		r.o.Executor.Progress = p
	}
}

func (p *pausing) pass(e memory.Entry) {
	if e.State == triage.Trying && e.Index == p.at {
		p.once.Do(p.stand)
	}
}

func (p *pausing) Begin(ctx context.Context, l memory.Ledger) error {
	p.pass(l.Entries[p.at])
	return p.Journal.Begin(ctx, l)
}

func (p *pausing) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	p.pass(e)
	return p.Journal.Mark(ctx, key, e)
}

func (p *pausing) Advance(ctx context.Context, s store.Step) (store.Advanced, error) {
	if s.Ledger != nil {
		p.pass(s.Ledger.Entries[p.at])
	}
	return p.progress.Advance(ctx, s)
}

// TestPaused suspends one of two servers for longer than its lease, after it confirmed the
// lease and before it sends the write. The other one leases the decision, and the first one
// makes no further write.
func TestPaused(t *testing.T) {
	t.Parallel()
	for at, name := range []string{"before the first write", "between two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onAll(t, func(r *rig) {
				whole, journal, steps := r.q, r.journal, r.o.Executor.Progress
				still := freezable(r)
				goOn := make(chan struct{})
				pauses(r, at, func() { still.freeze(); <-goOn })
				r.enqueue(1)
				r.complete(1, comment, `{"type":"comment","body":"once more"}`)
				r.config = "policy: {limits: {comment: 2}, comment_interval: 0s}\n"
				_, stop := r.start()
				synctest.Wait()
				if got := len(r.writes()); got != at {
					t.Fatalf("got %d writes before the pause", got)
				}
				r.q, r.journal, r.o.Executor.Progress = whole, journal, steps
				r.start()
				time.Sleep(10 * time.Minute)
				r.is(1, queue.Done)
				r.wrote(on(1, talkPost, talkPost)...)
				still.thaw()
				close(goOn)
				time.Sleep(10 * time.Minute)
				r.wrote(on(1, talkPost, talkPost)...)
				if got := r.observed(observe.LeaseEnded, "lost"); got != 1 {
					t.Errorf("%d leases were lost:\n%s", got, r.log())
				}
				if got := r.observed(observe.ApplyAttempted, "lost"); got != 1 {
					t.Errorf("lost %d times:\n%s", got, r.log())
				}
				if rec, err := r.store.Load(r.t.Context(), repo, 1); err != nil || len(rec.Tasks) != 1 || rec.Tasks[0].Status != "applied" {
					t.Errorf("remembered: %v, %+v", err, rec.Tasks)
				}
				stop()
			})
		})
	}
}

// TestPausedAlone checks that a server continues after a pause if no other server has
// leased the decision meanwhile.
func TestPausedAlone(t *testing.T) {
	t.Parallel()
	onAll(t, func(r *rig) {
		still := freezable(r)
		pauses(r, 0, func() {
			still.freeze()
			time.Sleep(10 * time.Minute)
			still.thaw()
		})
		r.enqueue(1)
		r.complete(1, comment)
		r.start()
		time.Sleep(time.Hour)
		r.is(1, queue.Done)
		r.wrote(on(1, talkPost)...)
	})
}

// A stalling process stops before or after one of its steps, and makes no further one until it goes on.
type stalling struct {
	store.Progress

	at      int  // number of the step
	after   bool // the step is made, and the process does not get the answer
	goOn    chan struct{}
	mu      sync.Mutex
	made    int
	stalled bool
}

// stall reports whether the process stops at its next step.
func (s *stalling) stall() (here, earlier bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	earlier = s.stalled
	here = !earlier && s.made == s.at
	s.stalled = earlier || here
	s.made++
	return here, earlier
}

func (s *stalling) Advance(ctx context.Context, step store.Step) (store.Advanced, error) {
	here, earlier := s.stall()
	if !here || !s.after {
		if here || earlier {
			<-s.goOn
		}
		return s.Progress.Advance(ctx, step)
	}
	out, err := s.Progress.Advance(ctx, step)
	<-s.goOn
	return out, err
}

// TestStepBoundaries stops a process before and after each of its steps, for longer than its lease. Another
// one carries the decision out. When the first process goes on, it changes nothing. No write is lost or
// made twice.
func TestStepBoundaries(t *testing.T) {
	t.Parallel()
	const steps = 4 // three writes, and the record
	for n := range 2 * (steps + 1) {
		at, after := n/2, n%2 == 1
		t.Run(fmt.Sprint(at, after), func(t *testing.T) {
			t.Parallel()
			onAll(t, func(r *rig) {
				r.gh.Repo(repo).AddUser("alice")
				r.enqueue(1)
				r.complete(1, addLabel, comment, `{"type":"assign","assignees":["alice"]}`)
				whole, all := r.q, r.o.Executor.Progress
				still := &frozen{Queue: r.q}
				stops := &stalling{Progress: r.progress(), at: at, after: after, goOn: make(chan struct{})}
				r.q, r.o.Executor.Progress = still, stops
				_, stop := r.start()
				synctest.Wait()
				if done := r.task(1).State == queue.Done; done != (at == steps) {
					r.t.Fatalf("after %d steps: done %v, want %d steps", stops.made, done, steps)
				}
				still.freeze()
				r.q, r.o.Executor.Progress = whole, all
				r.start()
				time.Sleep(10 * time.Minute)
				r.is(1, queue.Done)
				check := func() {
					r.t.Helper()
					got := r.gh.Issue(repo, 1)
					if len(got.Comments) != 1 || len(got.Labels) != 1 || len(got.Assignees) != 1 {
						r.t.Errorf("got %d comments, labels %v, assignees %v\n%s", len(got.Comments), got.Labels, got.Assignees, r.log())
					}
					l, err := r.journal.Ledger(r.t.Context(), memory.LedgerKey{Repo: repo, Issue: 1, Task: id(1)})
					// A label or an assignee of the first process is found on the issue.
					ended := []triage.State{triage.Done, triage.Skipped}
					if err != nil || slices.ContainsFunc(l.Entries, func(e memory.Entry) bool { return !slices.Contains(ended, e.State) }) {
						r.t.Errorf("got %v, %+v", err, l.Entries)
					}
					rec, err := r.store.Load(r.t.Context(), repo, 1)
					if err != nil || len(rec.Tasks) != 1 || rec.Tasks[0].Status != "applied" {
						r.t.Errorf("remembered: %v, %+v", err, rec.Tasks)
					}
				}
				check()
				writes := len(r.writes())
				still.thaw()
				close(stops.goOn)
				time.Sleep(10 * time.Minute)
				check()
				if got := len(r.writes()); got != writes {
					r.t.Errorf("%d writes after it went on", got-writes)
				}
				stop()
			})
		})
	}
}
