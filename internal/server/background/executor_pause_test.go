package background_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestPause pauses while a decision is being carried out: it makes no further write, its try does not
// count, and it continues after the pause. No agent is notified of a paused task. No write is repeated.
func TestPause(t *testing.T) {
	t.Parallel()
	for _, scope := range []queue.Scope{
		{Kind: queue.ScopeEverything},
		{Kind: queue.ScopeAgent, Name: agentURL},
		{Kind: queue.ScopeRepo, Name: "Octo/Hello"},
	} {
		t.Run(string(scope.Kind), func(t *testing.T) {
			t.Parallel()
			onAll(t, func(r *rig) {
				var asked atomic.Int32
				r.host.set("agent:9001", func(http.ResponseWriter, *http.Request) { asked.Add(1) })
				r.slow = 2 * time.Second
				writes := 0
				r.onWrite = func(req *http.Request) error {
					if writes++; writes == 1 {
						if _, _, err := r.o.Executor.Pauses.Pause(req.Context(), scope, "ann", "too many comments"); err != nil {
							r.t.Error(err)
						}
					}
					return nil
				}
				r.enqueue(1)
				r.complete(1, comment, addLabel)
				r.start()
				time.Sleep(time.Minute)
				r.is(1, queue.Completed)
				r.wrote(on(1, talkPost)...)
				r.enqueue(2)
				r.enqueue(3)
				r.complete(3, addLabel)
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				r.is(1, queue.Completed)
				r.is(2, queue.Pending)
				r.is(3, queue.Completed)
				if asked.Load() > 0 {
					r.t.Errorf("the agent was notified %d times", asked.Load())
				}
				r.wrote(on(1, talkPost)...)
				p, found, err := r.o.Executor.Pauses.Resume(r.t.Context(), scope)
				if err != nil || !found || p.Held != 3 || p.Draining != 0 {
					r.t.Errorf("resumed %+v, found is %t, error %v", p, found, err)
				}
				time.Sleep(time.Minute)
				r.is(1, queue.Done)
				r.is(3, queue.Done)
				if asked.Load() == 0 {
					r.t.Error("the agent was not notified")
				}
				got := slices.Sorted(slices.Values(r.writes())) // the issues have no order
				if want := append(on(1, talkPost, labelPost), on(3, labelPost)...); !slices.Equal(got, want) {
					r.t.Errorf("got writes %q, want %q", got, want)
				}
				d, err := r.q.Inspect(r.t.Context(), id(1))
				if err != nil || d.Tries != 0 {
					r.t.Errorf("%d tries counted, error %v", d.Tries, err)
				}
				if got := d.Log[len(d.Log)-1]; got.What != "released" || got.Text != "paused by ann: "+scope.String()+": too many comments" {
					r.t.Errorf("the log ends with %+v", got)
				}
			})
		})
	}
}
