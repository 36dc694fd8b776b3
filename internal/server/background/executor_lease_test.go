package background_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/queue"
)

// TestSlowGitHub is check 32: 50 decisions are executed while GitHub takes two seconds per call.
// Meanwhile the queue must answer at once.
func TestSlowGitHub(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.slow = 2 * time.Second
		for n := 1; n <= 50; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.enqueue(60)
		_, attempt := r.claim(time.Hour)
		r.start()
		beats := 0
		for {
			synctest.Wait()
			stats, err := r.q.Stats(r.t.Context())
			if err != nil {
				r.t.Fatal(err)
			}
			if stats.States[queue.Completed] == 0 {
				break
			}
			if left := stats.States[queue.Completed]; stats.Draining != min(left, 16) {
				r.t.Errorf("%d of %d decisions are being carried out", stats.Draining, left)
			}
			start := time.Now()
			if err := r.q.Heartbeat(r.t.Context(), queue.Ref{ID: id(60), Attempt: attempt}, time.Hour); err != nil {
				r.t.Error(err)
			}
			if waited := time.Since(start); waited > 0 {
				r.t.Errorf("a heartbeat waited %s", waited)
			}
			beats++
			time.Sleep(time.Second)
		}
		if beats < 10 || len(r.writes()) != 50 {
			r.t.Errorf("got %d heartbeats, %d writes", beats, len(r.writes()))
		}
	})
}

// TestOneOfAnIssue checks that the decisions on one issue are executed one after the other, and do
// not delay other issues.
func TestOneOfAnIssue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		var now, most atomic.Int64
		r.onWrite = func(req *http.Request) error {
			if !strings.Contains(req.URL.Path, "/issues/1/") {
				return nil
			}
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		}
		r.config = "policy: {comment_interval: 0s}\n"
		for n := 41; n <= 45; n++ {
			r.enqueue(n, func(task *queue.Task) {
				task.Issue = 1
				task.Message = []byte(strings.ReplaceAll(string(r.message(1)), id(1), id(n)))
			})
			r.complete(n, comment)
		}
		r.enqueue(2)
		r.complete(2, comment)
		r.start()
		synctest.Wait()
		r.is(2, queue.Done)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for n := 41; n <= 45; n++ {
			r.is(n, queue.Done)
		}
		if most.Load() != 1 {
			r.t.Errorf("%d writes to one issue at a time", most.Load())
		}
	})
}

// TestRenewed checks that the lease of a slow decision is renewed.
func TestRenewed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.slow = 25 * time.Second
		r.enqueue(1)
		r.complete(1, addLabel, comment, `{"type":"react","content":"eyes"}`, `{"type":"lock"}`, `{"type":"assign","assignees":["alice"]}`)
		r.gh.Repo(repo).AddUser("alice")
		r.start()
		start := time.Now()
		for r.task(1).State != queue.Done {
			time.Sleep(time.Second)
			synctest.Wait()
			if time.Since(start) > 10*time.Minute {
				r.t.Fatal("it is never done")
			}
		}
		if took := time.Since(start); took < 2*time.Minute {
			r.t.Fatalf("it took only %s", took)
		}
		if got := r.task(1); got.Tries != 0 || r.observed(observe.ApplyAttempted, "done") != 1 || r.observed(observe.LeaseEnded, "done") != 1 {
			r.t.Errorf("got %d tries\n%s", got.Tries, r.log())
		}
	})
}

// TestRenewedLate checks that the lease is also renewed after the last write on GitHub, until the
// memory is saved.
func TestRenewedLate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.o.Lease, r.o.Maintenance.RequeueInterval = 3*time.Second, time.Second
		r.store = faultyStore{r.store, func() error {
			time.Sleep(55 * time.Second)
			return nil
		}}
		r.enqueue(1)
		r.complete(1, comment)
		r.start()
		time.Sleep(time.Minute)
		r.is(1, queue.Done)
		if got := r.task(1).Tries; got != 0 {
			r.t.Errorf("got %d tries\n%s", got, r.log())
		}
	})
}

// TestRate checks that decisions beyond the rate of an account are released, that other
// accounts are not delayed, and that in the end every write is made, within the rate.
func TestRate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.o.Executor.PerMinute, r.o.Executor.PerHour, r.o.Executor.Concurrency = 5, 20, 4
		r.o.Executor.Settings = func(ctx context.Context, name, agent string) (executor.Settings, error) {
			s, err := r.settings(ctx, name, agent)
			s.Identity = agent
			return s, err
		}
		var times []time.Time
		var mu sync.Mutex
		r.onWrite = func(req *http.Request) error {
			if !strings.Contains(req.URL.Path, "/issues/50/") {
				mu.Lock()
				defer mu.Unlock()
				times = append(times, time.Now())
			}
			return nil
		}
		for n := 1; n <= 40; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.enqueue(50, func(task *queue.Task) { task.Agent = "http://other" })
		r.complete(50, comment)
		r.start()
		time.Sleep(time.Second)
		r.is(50, queue.Done)
		time.Sleep(3 * time.Hour)
		for n := 1; n <= 40; n++ {
			r.is(n, queue.Done)
			if got := r.task(n).Tries; got != 0 {
				r.t.Errorf("issue %d: %d tries", n, got)
			}
		}
		for i := range times {
			if i >= 5 && times[i].Sub(times[i-5]) < time.Minute || i >= 20 && times[i].Sub(times[i-20]) < time.Hour {
				r.t.Errorf("write %d came too early: %s", i+1, times[i])
			}
		}
		reads := len(r.gh.Log()) - len(r.writes())
		if off := r.observed(observe.ApplyAttempted, "given_off"); off > 100 {
			r.t.Errorf("decisions were released %d times", off)
		}
		if len(times) != 40 || reads > 7*40 {
			r.t.Errorf("got %d writes, %d reads", len(times), reads)
		}
	})
}

// TestStop checks that a stop finishes the write under way, begins no other one, and
// releases the decision, so that the next process continues at once.
func TestStop(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.slow = 2 * time.Second
		begun := make(chan struct{}, 10)
		r.onWrite = func(*http.Request) error {
			begun <- struct{}{}
			time.Sleep(3 * time.Second)
			return nil
		}
		r.enqueue(1)
		r.complete(1, addLabel, comment)
		_, stop := r.start()
		<-begun
		start := time.Now()
		stop()
		if took := time.Since(start); took != 3*time.Second {
			r.t.Errorf("it took %s", took)
		}
		r.wrote(on(1, labelPost)...)
		if got := r.task(1); got.State != queue.Completed || got.Draining || got.Tries != 0 || got.Held {
			r.t.Errorf("got %+v", got.Info)
		}
		r.start()
		time.Sleep(time.Minute)
		r.is(1, queue.Done)
		r.wrote(on(1, labelPost, talkPost)...)
	})
}

// TestStopHangs checks that a stop does not wait for ever for a write.
func TestStopHangs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.o.Executor.StopTime = 4 * time.Second
		r.slow = 20 * time.Second
		r.enqueue(1)
		r.complete(1, comment)
		_, stop := r.start()
		synctest.Wait()
		start := time.Now()
		stop()
		if took := time.Since(start); took != 4*time.Second {
			r.t.Errorf("it took %s", took)
		}
		if got := r.task(1); got.Draining || got.Tries != 0 {
			r.t.Errorf("got %+v", got.Info)
		}
	})
}

// TestQueueBreaks checks that the executor reports an outage of the queue, and continues
// after it.
func TestQueueBreaks(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		q := brokenqueue.New(r.q)
		r.q = q
		d, _ := r.start()
		synctest.Wait()
		q.Break(errors.Join(queue.ErrUnavailable, errors.New("the disk is full")))
		time.Sleep(5 * time.Minute)
		down := 0
		for _, h := range d.Health() {
			if !h.OK && strings.Contains(h.Reason, queue.ErrUnavailable.Error()) {
				down++
			}
		}
		if down < 3 || r.observed(observe.LoopFailed, "decisions") < 5 {
			r.t.Errorf("got %+v", d.Health())
		}
		q.Break(nil)
		r.enqueue(1)
		r.complete(1, comment)
		time.Sleep(2 * time.Minute)
		r.is(1, queue.Done)
		for _, h := range d.Health() {
			if !h.OK {
				r.t.Errorf("got %+v", h)
			}
		}
	})
}

// TestLimitAfterFirst checks that a decision that GitHub's rate limit interrupts is released, and
// that the try does not count.
func TestLimitAfterFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Times: 3, Status: 429, Header: map[string]string{"Retry-After": "3000"}})
		r.enqueue(1)
		r.complete(1, addLabel, comment)
		r.start()
		time.Sleep(4 * time.Hour)
		r.is(1, queue.Done)
		if got := r.task(1).Tries; got != 0 || len(r.gh.Issue(repo, 1).Labels) != 1 {
			r.t.Errorf("got %d tries", got)
		}
		if n := strings.Count(strings.Join(r.writes(), " "), "labels 200"); n != 1 {
			r.t.Errorf("got %d writes of the label", n)
		}
	})
}
