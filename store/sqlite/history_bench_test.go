package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// BenchmarkHistory reads the history of 30 days with many tasks. The metric rows is the number of rows
// that a read of all tasks gets: it does not depend on the number of tasks. The metric record-us/task is
// what recording them took.
func BenchmarkHistory(b *testing.B) {
	const tasks, days = 1_000_000, 30
	clock := queuetest.NewClock()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "foreman.db"), Options{Now: clock.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	begin, step := clock.Now().UnixMilli(), (days*24*time.Hour).Milliseconds()/tasks
	err = s.engine.Write(b.Context(), func(tx sqlstore.Tx) error {
		for _, text := range []string{
			`INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at, claimed_at, completed_at, ended_at)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
SELECT 't' || i, 'http://a' || i % 3, 'o/r' || i % 20, i, 'lane' || i, CASE WHEN i % 50 = 0 THEN 5 ELSE 4 END, 0, 0,
  $2 + i * $3, $2 + i * $3 + i % 997, $2 + i * $3 + 1000 + i % 9973, $2 + i * $3 + 12000 FROM n`,
			`INSERT INTO task_report (seq, report) SELECT seq, '{"version":1,"repo":"o/r","status":"applied","actions":[]}' FROM task WHERE $1 + $2 + $3 <> 0`,
		} {
			if _, err := tx.Exec(text, int64(tasks), begin, step); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	clock.Advance(days * 24 * time.Hour)
	start, calls := time.Now(), 0
	for more := true; more; calls++ {
		got, err := s.History().Record(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		more = got.More
	}
	recorded := time.Since(start)
	for _, r := range history.Ranges() {
		b.Run(r.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.History().Read(b.Context(), history.Query{Range: r}); err != nil {
					b.Fatal(err)
				}
			}
			var rows int64
			err := s.engine.Read(b.Context(), func(tx sqlstore.Tx) error {
				_, err := sqlstore.One(tx, "SELECT count(*) FROM history WHERE scope = '' AND width = $1 AND at >= $2", sqlstore.Into(&rows), r.Width().Milliseconds(), r.From(clock.Now()).UnixMilli())
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(rows), "rows")
			b.ReportMetric(float64(recorded.Microseconds())/tasks, "record-us/task")
			b.ReportMetric(float64(calls), "calls-of-record")
		})
	}
}
