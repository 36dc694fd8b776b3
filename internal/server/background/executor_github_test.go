package background_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestLateSlot checks that a write that was too late for its slot takes another one.
func TestLateSlot(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.o.Executor.PerMinute, r.o.Executor.PerHour, r.o.Executor.Concurrency = 1, 100, 1
		var y tally
		r.onWrite = func(req *http.Request) error {
			if strings.Contains(req.URL.Path, "/issues/3/") {
				time.Sleep(50 * time.Second)
				return nil
			}
			return y.note(req)
		}
		r.o.Executor.Settings = func(ctx context.Context, name, agent string) (executor.Settings, error) {
			s, err := r.settings(ctx, name, agent)
			s.Identity = agent
			return s, err
		}
		add := func(n int, agent string) {
			r.enqueue(n, func(task *queue.Task) { task.Agent = agent })
			r.complete(n, comment)
		}
		add(1, agentURL)
		_, stop := r.start()
		time.Sleep(45 * time.Second)
		add(2, agentURL)
		synctest.Wait()
		add(3, "http://other") // occupies the only place for longer than task 2 waits for its slot
		time.Sleep(52 * time.Second)
		stop()
		r.start()
		add(4, agentURL)
		time.Sleep(10 * time.Minute)
		y.within(r.t, 1, 100, 3)
	})
}

// TestOldDecision checks that an outage does not fail decisions that were already old when it
// began.
func TestOldDecision(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		for n := 1; n <= 3; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		time.Sleep(30 * time.Hour) // without a server
		r.gh.Fault(githubtest.Fault{Status: 503})
		r.start()
		time.Sleep(2 * time.Hour)
		for n := 1; n <= 3; n++ {
			r.is(n, queue.Completed)
		}
		r.gh.ClearFaults()
		time.Sleep(6 * time.Minute)
		for n := 1; n <= 3; n++ {
			r.is(n, queue.Done)
		}
	})
}

// TestMovesMeanwhile checks that no other issue is written to if the issue moves between the read
// and the write.
func TestMovesMeanwhile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.gh.Repo("octo/other").AddIssue(githubtest.Issue{Number: 1})
		var once sync.Once
		r.onWrite = func(*http.Request) error {
			once.Do(func() { r.gh.Repo(repo).TransferIssue(1, "octo/other", 9) })
			return nil
		}
		r.enqueue(1)
		r.complete(1, comment, addLabel, closeIt)
		r.start()
		time.Sleep(2 * time.Hour)
		r.is(1, queue.Failed)
		r.wrote(on(1, "POST /repos/octo/hello/issues/%d/comments 301")...)
	})
}

// TestWritesFail checks that no decision fails while GitHub accepts reads but no writes for half an
// hour.
func TestWritesFail(t *testing.T) {
	t.Parallel()
	for _, fault := range []githubtest.Fault{{Status: 503}, {Status: 500}, {CutBefore: true}, {Status: 403}, {Status: 404}} {
		t.Run(fmt.Sprint(fault.Status), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				for _, method := range []string{"POST", "PATCH"} {
					fault := fault
					fault.Method = method
					r.gh.Fault(fault)
				}
				for n := 1; n <= 5; n++ {
					r.enqueue(n)
					r.complete(n, comment)
				}
				r.start()
				time.Sleep(30 * time.Minute)
				r.gh.ClearFaults()
				time.Sleep(20 * time.Minute)
				for n := 1; n <= 5; n++ {
					r.is(n, queue.Done)
				}
			})
		})
	}
}

// TestCloseLater checks that a scheduled close is refused, as the server has no scheduled
// runs.
func TestCloseLater(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.config = "policy: {allow_close: true}\nagent: {may: [comment, close_issue]}\n"
		r.enqueue(1)
		r.complete(1, `{"type":"close_issue","after":"72h"}`, comment)
		r.start()
		synctest.Wait()
		r.is(1, queue.Done)
		rep := r.report(1)
		if len(rep.Actions) != 2 || rep.Actions[0].Verdict != triage.Refuse || !strings.Contains(rep.Actions[0].Reason, "no scheduled run would") || rep.Executed != 1 {
			r.t.Errorf("got %+v", rep.Actions)
		}
	})
}

// TestRemembersFirst checks that the writes of an attempt are recorded and reported although
// the later attempts fail.
func TestRemembersFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/1/comments", Status: 422})
		r.enqueue(1)
		r.complete(1, addLabel, comment)
		r.start()
		synctest.Wait()
		r.wrote(on(1, labelPost, "POST /repos/octo/hello/issues/%d/comments 422")...)
		r.gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/*/*/issues/1/timeline", Status: 500})
		time.Sleep(2 * time.Hour)
		r.is(1, queue.Failed)
		rec, err := r.store.Load(r.t.Context(), repo, 1)
		if err != nil || len(rec.Tasks) != 1 || rec.Tasks[0].Actions[0].Result != triage.Done {
			r.t.Errorf("got %v, %+v", err, rec.Tasks)
		}
		if rep := r.report(1); rep.Executed != 1 || rep.Actions[0].State != triage.Done || rep.Actions[1].State != triage.NotRun || rep.Status != runner.StatusPartial {
			r.t.Errorf("got report %+v", rep)
		}
	})
}
