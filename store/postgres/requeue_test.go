package postgres_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestStaleMany requeues many tasks on a distant database, where a statement takes 100 ms. All of
// them together take longer than the deadline of one call. Therefore each transaction must have
// its own deadline and few statements.
func TestStaleMany(t *testing.T) {
	t.Parallel()
	const (
		many   = 1000
		within = int(30 * time.Second / (100 * time.Millisecond))
	)
	direct := postgres.Server(t).Schema(t)
	open(t, direct, postgres.Options{}).Run(t, `INSERT INTO task
(task_id, agent, repo, issue, lane, state, priority, joinable, attempt, claims, lease_until, created_at)
SELECT 't' || n, 'http://a/', 'o/r', n, 'o/r#' || n, 1, 0, 0, 1, 1, 1, 1 FROM generate_series(1, $1) n`, many)
	w := &postgres.Witness{}
	s := postgres.OpenWatched(t, direct, postgres.Options{}, w)
	w.Calls()
	if swept, err := s.Queue().RequeueStale(t.Context(), queue.Limits{Claims: 3}); err != nil || len(swept) != many {
		t.Errorf("got %d, %v, want %d", len(swept), err, many)
	}
	calls := w.Calls()
	if calls[time.Time{}] > 0 {
		t.Errorf("%d statements had no deadline", calls[time.Time{}])
	}
	total := 0
	for _, n := range calls {
		if total += n; n > within {
			t.Errorf("%d statements shared a deadline, want at most %d", n, within)
		}
	}
	if total < many {
		t.Errorf("got %d statements, want one for each of the %d tasks at least", total, many)
	}
}
