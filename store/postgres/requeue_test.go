package postgres_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestStaleMany requeues more than a database that is far away takes up within the time of a call.
func TestStaleMany(t *testing.T) {
	t.Parallel()
	const many = 1000
	direct := schema(t)
	open(t, direct, postgres.Options{}).Run(t, `INSERT INTO task
(task_id, agent, repo, issue, lane, state, priority, joinable, attempt, claims, lease_until, created_at)
SELECT 't' || n, 'http://a/', 'o/r', n, 'o/r#' || n, 1, 0, 0, 1, 1, 1, 1 FROM generate_series(1, $1) n`, many)
	m := newMute(t, direct)
	m.late.Store(int64(5 * time.Millisecond))
	s := open(t, m.url, postgres.Options{Timeout: 4 * time.Second})
	if swept, err := s.RequeueStale(t.Context(), queue.Limits{Claims: 3}); err != nil || len(swept) != many {
		t.Errorf("got %d, %v, want %d", len(swept), err, many)
	}
}
