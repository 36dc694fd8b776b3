package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A recorder stores the statements that each method runs.
type recorder struct {
	mu    sync.Mutex
	verb  string
	verbs []string
	texts map[string][]string
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	r.note(d.SQL)
	return ctx
}

func (r *recorder) note(sql string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verb != "" && regexp.MustCompile(`\b(task|write_slot|history|memory_)`).MatchString(sql) && !slices.Contains(r.texts[r.verb], sql) {
		r.texts[r.verb] = append(r.texts[r.verb], sql)
	}
}

func (*recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	r.note(d.SQL)
}

func (*recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// as records the following statements under a method's name.
func (r *recorder) as(verb string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verb = verb
	if verb != "" && !slices.Contains(r.verbs, verb) {
		r.verbs = append(r.verbs, verb)
	}
}

// TestPlans lets PostgreSQL explain the statements of each method. The tables have many rows, but
// according to the statistics no task is ever claimed or leased. Each statement must use an
// index, and each frequent statement the index that was made for it.
func TestPlans(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, "fsync=off", "autovacuum=off")
	config, err := parse(cluster.Database(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{texts: map[string][]string{}}
	config.ConnConfig.Tracer = rec
	s, err := open(t.Context(), config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	record(t, s, rec)

	conn, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := prepare(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	fill(t, conn)
	var got strings.Builder
	for _, verb := range rec.verbs {
		fmt.Fprintf(&got, "%s\n", verb)
		for _, sql := range rec.texts[verb] {
			fmt.Fprintf(&got, "  %.60s\n", strings.Join(strings.Fields(sql), " "))
			for _, line := range explain(t, conn, sql) {
				fmt.Fprintf(&got, "    %s\n", line)
			}
		}
	}
	golden(t, filepath.Join("testdata", "plans.txt"), got.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// record calls each frequent method once, on suitable tasks.
func record(t *testing.T, s *Store, rec *recorder) {
	t.Helper()
	const agent = "http://a/"
	ctx := t.Context()
	steps := []struct {
		verb string
		do   func() error
	}{
		{"Enqueue", func() error { return enqueue(ctx, s, queue.Task{ID: "1", Agent: agent, Repo: "o/r", Issue: 1}) }},
		{"Enqueue, coalesced", func() error {
			return enqueue(ctx, s, queue.Task{ID: "2", Agent: agent, Repo: "o/r", Issue: 2, Coalesce: true, Dedup: "d"})
		}},
		{"Enqueue, limited", func() error {
			return enqueue(ctx, s, queue.Task{ID: "3", Agent: agent, Repo: "o/r", Issue: 3, HourlyLimit: 9})
		}},
		{"ClaimNext", func() error {
			_, err := s.Queue().ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Hour})
			return err
		}},
		{"Heartbeat", func() error { return s.Queue().Heartbeat(ctx, queue.Ref{ID: "1", Attempt: 1}, time.Hour) }},
		{"ReleaseClaim", func() error { return s.Queue().ReleaseClaim(ctx, queue.Ref{ID: "1", Attempt: 1}, 0) }},
		{"ClaimNext, of a task", func() error {
			_, err := s.Queue().ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Hour, Task: "1"})
			return err
		}},
		{"Complete", func() error { _, err := s.Queue().Complete(ctx, queue.Ref{ID: "1"}, []byte("{}")); return err }},
		{"Complete, late", func() error { _, err := s.Queue().Complete(ctx, queue.Ref{ID: "1"}, []byte("{}")); return err }},
		{"LeaseDecisions", func() error {
			_, err := s.Queue().LeaseDecisions(ctx, queue.DrainOptions{Lease: time.Hour, Limit: 9})
			return err
		}},
		{"Renew", func() error { _, err := s.Queue().Renew(ctx, queue.Lease{ID: "1", Epoch: 1}, time.Hour); return err }},
		{"Advance", func() error { return stepAdvance(ctx, s, queue.Lease{ID: "1", Epoch: 1}, 1) }},
		{"MarkDone", func() error { return s.Queue().MarkDone(ctx, queue.Lease{ID: "1", Epoch: 1}, []byte("{}")) }},
		{"RequeueLeases", func() error { _, err := s.Queue().RequeueLeases(ctx, 8); return err }},
		{"RequeueStale", func() error { _, err := s.Queue().RequeueStale(ctx, queue.Limits{Claims: 3, Drains: 8}); return err }},
		{"ExtendClaims", func() error { _, err := s.Queue().ExtendClaims(ctx, time.Hour); return err }},
		{"Purge", func() error { _, err := s.Queue().Purge(ctx, time.Now().Add(time.Hour), 100); return err }},
		{"Backlog", func() error { _, err := s.Queue().Backlog(ctx, 9); return err }},
		{"Enqueue, behind", func() error {
			if err := enqueue(ctx, s, queue.Task{ID: "4", Agent: agent, Repo: "o/r", Issue: 2}); err != nil {
				return err
			}
			return enqueue(ctx, s, queue.Task{ID: "5", Agent: agent, Repo: "o/r", Issue: 2, Coalesce: true, Join: refuse})
		}},
		{"Cancel, ahead", func() error {
			return errors.Join(s.Queue().Cancel(ctx, queue.Seen{ID: "2"}, "person"), s.Queue().Cancel(ctx, queue.Seen{ID: "4"}, "person"))
		}},
		{"List, of an issue", func() error { _, err := queue.List(ctx, s.Queue(), queue.Filter{Repo: "o/r", Issue: 3}); return err }},
		{"List, of a repository", func() error { _, err := queue.List(ctx, s.Queue(), queue.Filter{Repo: "o/r"}); return err }},
		{"List, failed", func() error { _, err := queue.List(ctx, s.Queue(), queue.Filter{State: queue.Failed}); return err }},
		{"List", func() error { _, err := queue.List(ctx, s.Queue(), queue.Filter{}); return err }},
		{"Search, failed", func() error {
			_, err := s.Queue().Search(ctx, queue.Filter{State: queue.Failed, Title: "a b", Reason: "c", ID: "d"})
			return err
		}},
		{"Search", func() error { _, err := s.Queue().Search(ctx, queue.Filter{Title: "a"}); return err }},
		{"Count", func() error {
			_, err := s.Queue().Count(ctx, queue.Filter{State: queue.Failed, Repo: "o/r"})
			return err
		}},
		{"Inspect", func() error { _, err := s.Queue().Inspect(ctx, "2"); return err }},
		{"Retry", func() error { _, err := s.Queue().Retry(ctx, queue.Seen{ID: "2"}, "person"); return err }},
		{"AskAgain", func() error { _, err := s.Queue().AskAgain(ctx, queue.Seen{ID: "4"}, "person", "why"); return err }},
		{"TakeSlot", func() error {
			_, _, err := s.Slots().TakeSlot(ctx, queue.SlotRequest{Identity: "bot", PerMinute: 80, PerHour: 500})
			return err
		}},
		{"History.Record", func() error {
			rec.as("")
			_, err := s.engine.pool.Exec(ctx, "UPDATE task SET created_at = created_at - 600000") // only settled tasks get rows
			rec.as("History.Record")
			if err == nil {
				_, err = s.History().Record(ctx)
			}
			return err
		}},
		{"History.RecordBudget", func() error { return s.History().RecordBudget(ctx, []history.Budget{{Account: "bot", Calls: 1}}) }},
		{"History.Read", func() error {
			_, err := s.History().Read(ctx, history.Query{Range: history.Ranges()[3]})
			return err
		}},
	}
	for _, step := range steps {
		rec.as(step.verb)
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.verb, err)
		}
	}
	rec.as("")
}

// refuse rejects joining two tasks.
func refuse(_, _ queue.Body) (queue.Body, bool) { return queue.Body{}, false }

func enqueue(ctx context.Context, s *Store, t queue.Task) error {
	t.Message = []byte("{}")
	_, err := s.Queue().Enqueue(ctx, t)
	return err
}

// fill adds tasks, none of which is claimed or leased, and runs ANALYZE.
func fill(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"ALTER TABLE task DISABLE TRIGGER USER",
		`INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, run_at, slot, created_at, ended_at)
SELECT 't' || n, 'http://' || n % 8 || '/', 'o/r' || n % 50, n % 1000, 'o/r' || n % 50 || '#' || n % 1000,
  CASE WHEN n % 10 < 5 THEN 0 WHEN n % 10 < 6 THEN 2 WHEN n % 100 = 99 THEN 5 ELSE 4 END, 0, 0, 0, n, n,
  CASE WHEN n % 10 < 6 THEN NULL ELSE n END FROM generate_series(1, 10000) n`,
		"ALTER TABLE task ENABLE TRIGGER USER",
		"INSERT INTO task_count (state, agent, shard, n) SELECT state, '', 0, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state",
		"INSERT INTO task_body (seq, message) SELECT seq, '{}' FROM task WHERE task_id LIKE 't%'",
		"INSERT INTO task_result (seq, decision) SELECT seq, '{}' FROM task WHERE state <> 0 AND task_id LIKE 't%'",
		"INSERT INTO task_report (seq, report) SELECT seq, '{}' FROM task WHERE state = 4 AND task_id LIKE 't%'",
		"INSERT INTO task_log (seq, n, at, what, who, text) SELECT seq, 1, 1, '', '', '' FROM task WHERE task_id LIKE 't%'",
		"INSERT INTO task_also (dedup, seq) SELECT 'also' || seq, seq FROM task WHERE task_id LIKE 't%'",
		"INSERT INTO memory_record (repo, issue, revision, data) SELECT 'o/r' || n % 50, n, 1, '{}' FROM generate_series(1, 9000) n",
		"INSERT INTO memory_ledger (path, at, data) SELECT 'o/r/' || n || '.journal/x', n, '{}' FROM generate_series(1, 9000) n",
		"INSERT INTO write_slot (identity, at) SELECT 'bot' || n % 3, n FROM generate_series(1, 3000) n",
		"INSERT INTO history (scope, width, at, data) SELECT 'repo o/r' || n % 20, 60000, n / 20 * 60000, '{}' FROM generate_series(1, 9000) n",
		"INSERT INTO history_budget (width, at, account, calls, remaining, quota) SELECT 60000, n * 60000, 'bot', 1, 1, 1 FROM generate_series(1, 9000) n",
		"ANALYZE",
		"SET plan_cache_mode = force_generic_plan",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// explain returns the indexes that a statement uses.
func explain(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	ctx := t.Context()
	d, err := conn.Prepare(ctx, "explained", sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	types := []string{}
	for _, oid := range d.ParamOIDs {
		var name string
		if err := conn.QueryRow(ctx, "SELECT $1::oid::regtype::text", oid).Scan(&name); err != nil {
			t.Fatal(err)
		}
		types = append(types, name)
	}
	params, values := "", ""
	if len(types) > 0 {
		params = "(" + strings.Join(types, ", ") + ")"
		values = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", len(types)), ", ") + ")"
	}
	if err := conn.Deallocate(ctx, "explained"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "PREPARE p"+params+" AS "+sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	rows, err := conn.Query(ctx, "EXPLAIN EXECUTE p"+values, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if _, err := conn.Exec(ctx, "DEALLOCATE p", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return indexes(t, sql, lines)
}

// indexes returns the names of the indexes in a plan. It leaves out how they are used, because
// that depends on random samples of the tables.
func indexes(t *testing.T, sql string, plan []string) []string {
	t.Helper()
	name := regexp.MustCompile(`Index (?:Only )?Scan (?:Backward )?(?:using|on) (\w+)`)
	var list []string
	for _, line := range plan {
		if strings.Contains(line, "Seq Scan") && !strings.Contains(line, "Scan on task_count ") || // a small table
			strings.Contains(line, "Bitmap Index Scan on task_pending") || strings.Contains(line, "Bitmap Index Scan on task_ready") {
			t.Errorf("reads more than it needs: %s\n%s", line, sql)
		}
		if m := name.FindStringSubmatch(line); m != nil {
			list = append(list, m[1])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
