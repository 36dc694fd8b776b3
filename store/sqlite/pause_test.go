package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// paused are tasks of which all but the last are paused.
type paused struct {
	*testing.T

	s    *Store
	path string
	now  func() time.Time
}

var repo = queue.Scope{Kind: queue.ScopeRepo, Name: "o/r"}

// pauseTasks returns a store with n paused tasks, and one behind them.
func pauseTasks(t *testing.T, n int) *paused {
	t.Helper()
	p := &paused{T: t, path: filepath.Join(t.TempDir(), "foreman.db"), now: queuetest.NewClock().Now}
	p.open()
	change(t, p.s, fmt.Sprintf(`WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value <= %d)
INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at)
SELECT 't' || value, 'http://a/', CASE WHEN value > %[1]d THEN 'o/other' ELSE 'O/R' END, value, 'o/r#' || value, 0, 0, 0, 1 FROM numbers`, n),
		"INSERT INTO task_body (seq, message) SELECT seq, '{}' FROM task")
	if _, _, err := p.s.Pauses().Pause(t.Context(), repo, "person", "why"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *paused) open() {
	p.Helper()
	s, err := Open(p.Context(), p.path, Options{Now: p.now})
	if err != nil {
		p.Fatal(err)
	}
	p.s = s
}

func (p *paused) restart() {
	p.Helper()
	if err := p.s.Close(); err != nil {
		p.Fatal(err)
	}
	p.open()
}

// parked returns the number of parked tasks.
func (p *paused) parked() (n int) {
	p.Helper()
	err := p.s.engine.Read(p.Context(), func(tx sqlstore.Tx) error {
		return tx.Query("SELECT count(*) FROM task WHERE state >= 18", sqlstore.Into(&n))
	})
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// claim claims a task, and returns its id; empty: none.
func (p *paused) claim() string {
	p.Helper()
	c, err := p.s.Queue().ClaimNext(p.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour})
	if err != nil && c.ID != "" {
		p.Fatal(err)
	}
	return c.ID
}

// TestPauseParks checks that claims skip each paused task at most a few times: every claim parks
// the next thousand. So the cost of later claims does not depend on the number of paused tasks.
func TestPauseParks(t *testing.T) {
	t.Parallel()
	p := pauseTasks(t, 2100)
	defer func() { p.s.Close() }()
	if got := p.claim(); got != "t2101" {
		t.Fatalf("claimed %q", got)
	}
	for _, want := range []int{1000, 2000, 2100, 2100} {
		if got := p.parked(); got != want {
			t.Errorf("%d tasks are parked, want %d", got, want)
		}
		if got := p.claim(); got != "" {
			t.Fatalf("claimed %q", got)
		}
	}
	// A pause of everything parks no task: it costs claims nothing.
	if _, _, err := p.s.Pauses().Pause(t.Context(), queue.Scope{Kind: queue.ScopeEverything}, "person", ""); err != nil {
		t.Fatal(err)
	}
	if got := p.claim(); got != "" || p.parked() != 2100 {
		t.Errorf("claimed %q, and %d tasks are parked", got, p.parked())
	}
}

// TestPauseRestart checks that a pause lasts after a restart, and that a new process, which reads
// the pauses with the list of waiting tasks, parks all tasks before it counts.
func TestPauseRestart(t *testing.T) {
	t.Parallel()
	p := pauseTasks(t, 1500)
	defer func() { p.s.Close() }()
	p.restart()
	list, err := p.s.Queue().Backlog(t.Context(), 3)
	if err != nil || len(list) != 1 || list[0].Pending != 1 || list[0].IDs[0] != "t1501" {
		t.Errorf("got %+v, %v, want the task that is not paused", list, err)
	}
	if got := p.parked(); got != 1500 {
		t.Errorf("%d tasks are parked, want 1500", got)
	}
	pauses, err := p.s.Pauses().ListPauses(t.Context(), true)
	if err != nil || len(pauses) != 1 || pauses[0].By != "person" || pauses[0].Reason != "why" || pauses[0].Held != queue.MaxHeld {
		t.Errorf("got %+v, %v", pauses, err)
	}
}

// TestResumeKilled checks that RequeueStale ends a resumption whose process was killed.
func TestResumeKilled(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"resumed": false, "paused again before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pauseTasks(t, 1)
			defer func() { p.s.Close() }()
			for p.parked() == 0 {
				p.claim()
			}
			change(t, p.s, "UPDATE pause SET active = 0") // the first transaction of Resume
			p.restart()
			if again {
				if _, already, err := p.s.Pauses().Pause(t.Context(), repo, "another", ""); err != nil || already {
					t.Fatalf("Pause: already is %t, error %v", already, err)
				}
			}
			if _, err := p.s.Queue().RequeueStale(t.Context(), queue.Limits{}); err != nil {
				t.Fatal(err)
			}
			if again {
				if got := p.claim(); got != "" {
					t.Fatalf("claimed %q during the second pause", got)
				}
				if _, found, err := p.s.Pauses().Resume(t.Context(), repo); err != nil || !found {
					t.Fatalf("Resume: found is %t, error %v", found, err)
				}
			}
			if got := p.claim(); got != "t1" {
				t.Errorf("claimed %q, want the task that was paused", got)
			}
			if got := p.parked(); got != 0 {
				t.Errorf("%d tasks are parked", got)
			}
		})
	}
}
