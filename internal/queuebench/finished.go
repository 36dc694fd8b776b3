package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/org/foreman-action/queue"
)

// besideFinished compares cycles of our queue on PostgreSQL with cycles of River. The tables of
// each contain many finished tasks.
func besideFinished(ctx context.Context, s settings, r *results) error {
	return postgresQueue(s.postgres)(ctx, func(q queue.Queue) error {
		return postgresPool(s.postgres)(ctx, func(pool *pgxpool.Pool) error {
			if err := migrateRiver(ctx, riverpgxv5.New(pool)); err != nil {
				return err
			}
			if err := addFinished(ctx, pool, s.calls(manyTasks)); err != nil {
				return err
			}
			return r.takeTurns(ctx, s.turns(5),
				measurement{rowPostgresCycles + beside100000, rowDisk, load{8, s.calls(2000)}, func(ctx context.Context, l load) (sample, error) { return cycles(ctx, q, l) }},
				measurement{rowPostgresRiver + beside100000, rowDisk, load{8, s.calls(2000)}, func(ctx context.Context, l load) (sample, error) { return riverOnPostgres(ctx, pool, l) }})
		})
	})
}

// addFinished adds n finished tasks to the tables of ours and to River's.
func addFinished(ctx context.Context, pool *pgxpool.Pool, n int) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for _, statement := range []string{
		"SELECT set_config('search_path', 'queuebench, queuebench_peer', false)",
		"ALTER TABLE task DISABLE TRIGGER USER", // the triggers are slow for many rows in one transaction
		`INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, attempt, claims, epoch, created_at, claimed_at, completed_at, ended_at)
SELECT gen_random_uuid(), '` + benchAgent + `', 'octo/bench', n, 'octo/bench#' || n, 4, 0, 0, 1, 1, 1, t, t, t, t
FROM generate_series(1, $1::int) n, (SELECT (extract(epoch from now()) * 1000)::bigint AS t) now`,
		"ALTER TABLE task ENABLE TRIGGER USER",
		"INSERT INTO task_count (state, agent, shard, n) SELECT state, '', 0, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state",
		"INSERT INTO task_body (seq, message) SELECT seq, convert_to('" + payload + "', 'UTF8') FROM task WHERE seq <= $1",
		"INSERT INTO task_result (seq, decision) SELECT seq, convert_to('" + payload + "', 'UTF8') FROM task WHERE seq <= $1",
		"INSERT INTO task_report (seq, report) SELECT seq, '{}' FROM task WHERE seq <= $1",
		`INSERT INTO river_job (args, kind, state, attempt, max_attempts, queue, priority, attempted_at, attempted_by, finalized_at)
SELECT jsonb_build_object('Text', '` + payload + `'::text), 'bench', 'completed', 1, 25, 'default', 1, now(), '{bench}', now() FROM generate_series(1, $1)`,
	} {
		var args []any
		if strings.Contains(statement, "$1") {
			args = append(args, n)
		}
		if _, err := conn.Exec(ctx, statement, args...); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	return errors.Join(err, conn.Conn().Close(ctx)) // its search path is changed
}
