package background_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestTrouble is check 25: a fault of one task does not affect other tasks. The task is retried for
// a while, and then fails with its reason.
func TestTrouble(t *testing.T) {
	t.Parallel()
	const path = "/repos/octo/hello/issues/2/comments"
	tests := []struct {
		name   string
		fault  githubtest.Fault
		state  queue.State // in the end
		reason string      // part of the task's reason
		tries  int         // writes that GitHub got
	}{
		{"401", githubtest.Fault{Status: 401}, queue.Failed, "failed after 8 tries: comment on octo/hello#2: 401", 8},
		{"403", githubtest.Fault{Status: 403}, queue.Failed, "failed after 8 tries: comment on octo/hello#2: 403", 8},
		{"403, no permission", githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, queue.Failed, `the token lacks "issues: write"`, 8},
		{"404", githubtest.Fault{Status: 404}, queue.Failed, "failed after 8 tries: the issue is gone", 8},
		{"404, twice", githubtest.Fault{Status: 404, Times: 2}, queue.Done, "", 3},
		{"410, deleted", githubtest.Fault{Status: 410, Body: `{"message":"This issue was deleted"}`}, queue.Failed, "failed after 8 tries: the issue is gone", 8},
		{"410, refused for good", githubtest.Fault{Status: 410, Body: `{"message":"Gone"}`}, queue.Done, "", 1},
		{"422", githubtest.Fault{Status: 422}, queue.Failed, "failed after 8 tries: comment on octo/hello#2: 422", 8},
		{"500", githubtest.Fault{Status: 500}, queue.Failed, "the outcome of the write is unknown", 24},
		{"502, twice", githubtest.Fault{Status: 502, Times: 2}, queue.Done, "", 3},
		{"cut", githubtest.Fault{CutBefore: true}, queue.Failed, "the outcome of the write is unknown", 24},
		{"cut once it is written", githubtest.Fault{CutAfter: true, Times: 1}, queue.Done, "", 1},
		{"429, for ten minutes", githubtest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "600"}}, queue.Done, "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onAll(t, func(r *rig) {
				tt := tt
				tt.fault.Method, tt.fault.Path = "POST", path
				r.gh.Fault(tt.fault)
				for n := 1; n <= 3; n++ {
					r.enqueue(n)
					r.complete(n, comment)
				}
				d, _ := r.start()
				synctest.Wait()
				r.is(1, queue.Done)
				r.is(3, queue.Done)
				time.Sleep(time.Hour)
				r.is(2, tt.state)
				if got := r.task(2).Reason; !strings.Contains(got, tt.reason) {
					t.Errorf("got reason %q, want %q", got, tt.reason)
				}
				got := 0
				for _, line := range r.writes() {
					if strings.HasPrefix(line, "POST "+path+" ") {
						got++
					}
				}
				if got != tt.tries || len(r.gh.Issue(repo, 1).Comments) != 1 {
					t.Errorf("got %d writes, want %d; the log:\n%s", got, tt.tries, r.log())
				}
				if rep := r.report(2); rep.Status == "" || tt.state == queue.Failed && rep.Reason == "" {
					t.Errorf("got report %+v", rep)
				}
				r.enqueue(4)
				r.complete(4, comment)
				synctest.Wait()
				r.is(4, queue.Done)
				for _, h := range d.Health() {
					if !h.OK {
						t.Errorf("got %+v", h)
					}
				}
			})
		})
	}
}

// TestNoAnswer checks that the server waits for GitHub only until the time limit of a request.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.onWrite = func(req *http.Request) error {
			if strings.Contains(req.URL.Path, "/issues/1/") {
				<-req.Context().Done()
				return req.Context().Err()
			}
			return nil
		}
		for n := 1; n <= 2; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.start()
		synctest.Wait()
		r.is(2, queue.Done)
		time.Sleep(2 * time.Hour)
		r.is(1, queue.Failed)
		if n := len(r.gh.Issue(repo, 1).Comments); n > 0 {
			r.t.Errorf("got %d comments", n)
		}
	})
}

// TestGone checks that decisions on issues that GitHub does not return fail only after
// retries, as the token may lack access. A decision without writes succeeds.
func TestGone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.gh.Repo(repo).DeleteIssue(1).TransferIssue(2, "octo/other", 9).DeleteIssue(3)
		for n := 1; n <= 2; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.enqueue(3)
		r.decide(3, decision(3, protocol.Skip))
		r.start()
		synctest.Wait()
		r.is(3, queue.Done)
		for n := 1; n <= 2; n++ {
			r.is(n, queue.Completed)
		}
		time.Sleep(time.Hour)
		for n := 1; n <= 2; n++ {
			r.is(n, queue.Failed)
			if rep := r.report(n); rep.Status != runner.StatusFailed || rep.Reason != triage.ErrGone.Error() {
				r.t.Errorf("got report %+v", rep)
			}
			if got := r.task(n).Reason; got != "failed after 8 tries: "+triage.ErrGone.Error() {
				r.t.Errorf("got reason %q", got)
			}
		}
		r.wrote()
	})
}

// TestUnreadable is check 56: a task that cannot be parsed fails at once and without retries, and
// does not affect other tasks.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	other := func(task *queue.Task) { task.Issue = 9 }
	tests := []struct {
		name     string
		change   func(*queue.Task)
		decision []byte
		reason   string
	}{
		{"message", func(task *queue.Task) { task.Message = []byte(`{"task_id":`) }, nil, "the task cannot be read"},
		{"not our message", func(task *queue.Task) { task.Message = []byte(`{"hello":"world"}`) }, nil, "the task cannot be read"},
		{"origin", func(task *queue.Task) { task.Origin = []byte(`[]`) }, nil, "the origin of the task cannot be read"},
		{"unheard-of event", func(task *queue.Task) { task.Origin = []byte(`{"event":"push"}`) }, nil, "the event of the task cannot be read"},
		{"another issue", other, nil, "the event is about octo/hello#1, the task about octo/hello#9"},
		{"another repository", func(task *queue.Task) { task.Repo = "octo/other" }, nil, "the event is about octo/hello#1, the task about octo/other#1"},
		{"decision", nil, []byte(`{"task_id":`), "the decision cannot be read"},
		{"unheard-of decision", nil, decision(1, "maybe"), "the decision cannot be read"},
		{"decision on another task", nil, decision(2, protocol.LabelAndRespond, comment), "the agent answered for task"},
		{"id", func(task *queue.Task) { task.ID = "7" }, nil, "want a UUID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				task := queue.Task{ID: id(1), Agent: agentURL, Repo: repo, Issue: 1, Message: r.message(1), Origin: []byte(`{"event":"issues"}`)}
				if tt.change != nil {
					tt.change(&task)
				}
				if tt.decision == nil {
					tt.decision = decision(1, protocol.LabelAndRespond, comment)
				}
				if _, err := r.q.Enqueue(r.t.Context(), task); err != nil {
					t.Fatal(err)
				}
				if _, err := r.q.Complete(r.t.Context(), queue.Ref{ID: task.ID}, tt.decision); err != nil {
					t.Fatal(err)
				}
				r.enqueue(5)
				r.complete(5, addLabel)
				r.start()
				synctest.Wait()
				r.is(5, queue.Done)
				got, err := r.q.Inspect(r.t.Context(), task.ID)
				if err != nil || got.State != queue.Failed || !strings.Contains(got.Reason, tt.reason) {
					t.Errorf("got %v, %s, %q, want %q", err, got.State, got.Reason, tt.reason)
				}
				r.wrote(on(5, labelPost)...)
			})
		})
	}
}

// TestOldRow executes a decision from a queue of the published harness, which stores only the issue
// and no event.
func TestOldRow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		const payload = `{"number":1,"title":"It breaks","body":null,"state":"open","user":{"login":"mona"},"labels":[]}`
		r.enqueue(1, func(task *queue.Task) {
			task.Origin = nil
			task.Message = fmt.Appendf(nil, `{"task_id":%q,"type":"issue.triage","repo":%q,"payload":%s,"context":{"llm_backend":{"provider":"a","model":"m"},"memory_summary":null}}`, id(1), repo, payload)
		})
		r.complete(1, comment, addLabel)
		r.start()
		synctest.Wait()
		r.is(1, queue.Done)
		r.wrote(on(1, talkPost, labelPost)...)
	})
}

// TestSettings checks that a decision of an unconfigured agent fails, and that one whose
// settings cannot be loaded is retried.
func TestSettings(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		var mended atomic.Bool
		r.o.Executor.Settings = func(ctx context.Context, name, agent string) (executor.Settings, error) {
			if agent != agentURL {
				return executor.Settings{}, fmt.Errorf("agent %q: %w", agent, executor.ErrUnknownRepo)
			}
			if !mended.Load() {
				return executor.Settings{}, errors.New("no token for octo/hello")
			}
			return r.settings(ctx, name, agent)
		}
		r.enqueue(1)
		r.enqueue(2, func(task *queue.Task) { task.Agent = "http://other" })
		r.complete(1, comment)
		r.complete(2, comment)
		r.start()
		synctest.Wait()
		r.is(1, queue.Completed)
		r.is(2, queue.Failed)
		mended.Store(true)
		time.Sleep(2 * time.Second)
		r.is(1, queue.Done)
		r.wrote(on(1, talkPost)...)
	})
}

// TestPanic checks that a panic fails only one decision, and that others are still executed.
func TestPanic(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.onWrite = func(req *http.Request) error {
			if strings.Contains(req.URL.Path, "/issues/1/") {
				panic("at the disco")
			}
			return nil
		}
		for n := 1; n <= 2; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.start()
		time.Sleep(time.Hour)
		r.is(1, queue.Failed)
		r.is(2, queue.Done)
		if got := r.task(1).Reason; !strings.HasSuffix(got, "panic: at the disco") {
			r.t.Errorf("got reason %q", got)
		}
	})
}

// faultyStore is a memory that signals each save, or fails.
type faultyStore struct {
	memory.Store
	saving func() error
}

func (s faultyStore) Save(ctx context.Context, r memory.Record) error {
	if err := s.saving(); err != nil {
		return err
	}
	return s.Store.Save(ctx, r)
}

// TestDoneLast is check 23: a task is done only after its actions and the memory are written.
func TestDoneLast(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		saves := 0
		r.store = faultyStore{r.store, func() error {
			saves++
			r.is(1, queue.Completed)
			r.wrote(on(1, talkPost)...)
			return nil
		}}
		r.enqueue(1)
		r.complete(1, comment)
		r.start()
		synctest.Wait()
		r.is(1, queue.Done)
		if saves != 1 {
			r.t.Errorf("got %d saves", saves)
		}
	})
}

// TestMemoryFails checks that no task is done before the memory has recorded it, and that
// the retries for that repeat no write on GitHub.
func TestMemoryFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fails int
		state queue.State
	}{
		{"for a while", 5, queue.Done},
		{"for good", 1000, queue.Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(r *rig) {
				left := tt.fails
				r.store = faultyStore{r.store, func() error {
					if left--; left >= 0 {
						return errors.New("the disk is full")
					}
					return nil
				}}
				r.enqueue(1)
				r.complete(1, comment, addLabel)
				r.start()
				synctest.Wait()
				r.is(1, queue.Completed)
				time.Sleep(time.Hour)
				r.is(1, tt.state)
				r.wrote(on(1, talkPost, labelPost)...)
				rec, err := r.store.Load(r.t.Context(), repo, 1)
				if tt.state == queue.Failed {
					if got := r.task(1).Reason; got != "failed after 8 tries: record the task: update the record of octo/hello#1: the disk is full" {
						t.Errorf("got reason %q", got)
					}
				} else if err != nil || len(rec.Tasks) != 1 || rec.Tasks[0].Status != "applied" || rec.Tasks[0].Actions[0].Result != triage.Done {
					t.Errorf("remembered: %v, %+v", err, rec.Tasks)
				}
			})
		})
	}
}

// TestJournalFirst is check 42: the journal stores the decision before the first write, even if
// that write fails.
func TestJournalFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.onWrite = func(*http.Request) error {
			l, err := r.journal.Ledger(r.t.Context(), memory.LedgerKey{Repo: repo, Issue: 1, Task: id(1)})
			if err != nil || len(l.Entries) != 2 || l.Entries[0].State != triage.Trying {
				r.t.Errorf("got %v, %+v", err, l.Entries)
			}
			return errors.New("the wire is cut")
		}
		r.enqueue(1)
		r.complete(1, comment, addLabel)
		r.start()
		time.Sleep(time.Hour)
		r.is(1, queue.Failed)
	})
}

// TestJournalLast checks that the end of an attempt stores the outcome of its last write, if nothing else
// did: without a memory, and after a failure.
func TestJournalLast(t *testing.T) {
	t.Parallel()
	states := func(r *rig, issue int) (list []triage.State) {
		l, err := r.journal.Ledger(r.t.Context(), memory.LedgerKey{Repo: repo, Issue: issue, Task: id(issue)})
		if err != nil {
			r.t.Error(err)
		}
		for _, e := range l.Entries {
			list = append(list, e.State)
		}
		return list
	}
	onAll(t, func(r *rig) {
		r.store = nil
		r.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/octo/hello/issues/2/comments", Status: 403})
		for n := 1; n <= 2; n++ {
			r.enqueue(n)
			r.complete(n, addLabel, comment)
		}
		_, stop := r.start()
		synctest.Wait()
		stop()
		r.is(1, queue.Done)
		if got := states(r, 1); !slices.Equal(got, []triage.State{triage.Done, triage.Done}) {
			r.t.Errorf("got %v, want that both ended", got)
		}
		r.is(2, queue.Completed)
		if got := states(r, 2); !slices.Equal(got, []triage.State{triage.Done, triage.Failed}) {
			r.t.Errorf("got %v, want that the comment failed", got)
		}
	})
}

// early records whether the log contains the result of an attempt before the release is durable.
type early struct {
	queue.Queue
	r    *rig
	said bool
}

func (q *early) ReleaseLease(ctx context.Context, h queue.Lease, p queue.Postponement) error {
	q.said = q.said || strings.Contains(q.r.log(), "decision executed")
	return q.Queue.ReleaseLease(ctx, h, p)
}

// TestLogAfter checks that a retry is logged only after the release is durable.
func TestLogAfter(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		q := &early{Queue: r.q, r: r}
		r.q = q
		r.gh.Fault(githubtest.Fault{Method: "POST", Status: 500, Times: 3})
		r.enqueue(1)
		r.complete(1, comment)
		_, stop := r.start()
		time.Sleep(30 * time.Second)
		stop()
		if q.said || !strings.Contains(r.log(), "status=again") {
			t.Errorf("got %s", r.log())
		}
	})
}
