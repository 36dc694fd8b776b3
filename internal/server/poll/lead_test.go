package poll

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
)

// A growing source has one more issue after each minute.
type growing struct {
	source
	began time.Time
	who   string
	asked *log
}

// A log records the callers of a source.
type log struct {
	mu   sync.Mutex
	list []string
}

func (l *log) add(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, who)
}

// take returns the recorded callers, and clears the log.
func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

func (g *growing) ListIssues(_ context.Context, _, _ string, q github.ListQuery) (github.ListPage, error) {
	g.asked.add(g.who)
	page := github.ListPage{Date: time.Now()}
	for n := 1; ; n++ {
		at := g.began.Add(time.Duration(n) * time.Minute)
		if !at.Before(time.Now()) {
			return page, nil
		}
		if at.Before(q.Since) {
			continue
		}
		raw, err := json.Marshal(map[string]any{"number": n, "title": "t", "state": "open", "created_at": at.UTC(), "updated_at": at.UTC()})
		if err != nil {
			return page, err
		}
		i, err := triage.ParseIssue(raw)
		if err != nil {
			return page, err
		}
		page.Issues = append(page.Issues, i)
	}
}

// TestOneLeads checks that only one of two processes on one database polls. After it stops, the
// other one continues.
func TestOneLeads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	synctest.Test(t, func(t *testing.T) {
		var asked log
		began := time.Now().Truncate(time.Second)
		process := func(who string) (stop func(), tasks func() int) {
			store, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			in, err := intake.New(intake.Options{Queue: store.Queue(), Repos: []string{"o/r"}, Rules: func(string, string) bool { return true }})
			if err != nil {
				t.Fatal(err)
			}
			g := &growing{began: began, who: who, asked: &asked}
			o := options(Repository{"o/r", g})
			o.FirstRun, o.Tasks, o.Cursors = 100, store.Queue(), store
			o.Take = func(ctx context.Context, e triage.Delivery, dedup string) (bool, error) {
				got, err := in.Take(ctx, intake.Arrival{Event: e, Dedup: dedup})
				return got.Task != "", err
			}
			p, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = store.Lead(ctx, "poll", p.Run) // ends with its context
			}()
			stop = func() {
				cancel()
				<-done
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}
			return stop, func() int {
				list, err := queue.List(t.Context(), store.Queue(), queue.Filter{Limit: 1000})
				if err != nil {
					t.Error(err)
				}
				return len(list)
			}
		}
		stopA, _ := process("a")
		time.Sleep(time.Second)
		stopB, tasks := process("b")
		time.Sleep(10 * time.Minute)
		if who := asked.take(); len(who) < 9 || slices.Contains(who, "b") {
			t.Errorf("asked by %v, want a", who)
		}
		stopA()
		asked.take()
		time.Sleep(10 * time.Minute)
		if who := asked.take(); len(who) < 9 || slices.Contains(who, "a") {
			t.Errorf("asked by %v, want b", who)
		}
		time.Sleep(30 * time.Second)
		if n := tasks(); n != 20 && n != 19 {
			t.Errorf("got %d tasks in 20 minutes, want one a minute", n)
		}
		stopB()
	})
}
