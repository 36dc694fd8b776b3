package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/foreman-action/queue"
)

// The names of the rows that targets compare. rowDisk is the floor of most rows.
const (
	rowDisk      = "floor: append 4 KiB + fsync"
	rowCycles    = "cycles: ours on SQLite, 8 clients"
	rowBacklite  = "cycles: backlite on SQLite, 8 clients"
	rowRiver     = "cycles: River on SQLite, 8 clients"
	rowClaim     = "claim: SQLite, 100000 pending, 1 clients"
	rowHTTPFloor = "floor: net/http, 64 clients"
	rowHTTPClaim = "claim over HTTP: SQLite, 64 clients"
	rowClaims    = "claim: ours on PostgreSQL, beside River, 8 clients"
	rowFetches   = "claim: River on PostgreSQL, 8 clients"

	rowPostgresCycles = "cycles: ours on PostgreSQL, 8 clients"
	rowPostgresRiver  = "cycles: River on PostgreSQL, 8 clients"
	rowManyCycles     = "cycles: ours on PostgreSQL, 64 clients"
	rowManyRiver      = "cycles: River on PostgreSQL, 64 clients"
	beside100000      = ", 100000 finished" // suffix of rows on tables with many finished tasks
)

// clientCounts are the numbers of concurrent clients that are measured.
var clientCounts = []int{1, 8, 64}

// settings define where and how much to measure.
type settings struct {
	dir      string // for databases
	postgres string // URL; empty: PostgreSQL is not measured
	quick    bool   // a tenth of the calls (at least 64), one turn
}

// calls returns n, or with quick a tenth of it. It is used for numbers of calls and for numbers of
// tasks to prepare.
func (s settings) calls(n int) int {
	if s.quick {
		return max(n/10, 64)
	}
	return n
}

// turns returns the number of turns in a round: n, or 1 with quick.
func (s settings) turns(n int) int {
	if s.quick {
		return 1
	}
	return n
}

// A part is a group of measurements. Each round runs it once.
type part struct {
	name string // value of the flag -only
	run  func(ctx context.Context, s settings, r *results) error
}

func parts() []part {
	return []part{{"fsync", disk}, {"cycles", cyclesOnSQLite}, {"verbs", verbsOnSQLite}, {"http", overHTTP}, {"postgres-cycles", cyclesOnPostgres}, {"postgres", onPostgres}}
}

// disk measures how many blocks of 4 KiB a second this disk can append and sync.
func disk(ctx context.Context, s settings, r *results) error {
	f, err := os.Create(filepath.Join(s.dir, "floor"))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 4096)
	return r.once(ctx, measurement{rowDisk, "", load{1, s.calls(2000)}, func(ctx context.Context, l load) (sample, error) {
		return measure(ctx, l, func(context.Context, int) error {
			if _, err := f.Write(block); err != nil {
				return err
			}
			return f.Sync()
		})
	}})
}

// cyclesOnSQLite measures cycles with 1, 8 and 64 clients. With 8 clients it compares them with
// backlite and River.
func cyclesOnSQLite(ctx context.Context, s settings, r *results) error {
	ours := with(sqliteQueue(s.dir), cycles)
	err := r.takeTurns(ctx, s.turns(5),
		measurement{rowCycles, rowDisk, load{8, s.calls(2000)}, ours},
		measurement{rowBacklite, rowDisk, load{8, s.calls(1000)}, with(sqliteDB(s.dir, 10), backliteCycles)},
		measurement{rowRiver, rowDisk, load{8, s.calls(1000)}, with(sqliteDB(s.dir, 1), riverOnSQLite)})
	if err != nil {
		return err
	}
	return r.once(ctx,
		measurement{"cycles: ours on SQLite, 1 clients", rowDisk, load{1, s.calls(4000)}, ours},
		measurement{"cycles: ours on SQLite, 64 clients", rowDisk, load{64, s.calls(4000)}, ours})
}

func verbsOnSQLite(ctx context.Context, s settings, r *results) error {
	return verbsOn(ctx, s, r, "SQLite", sqliteQueue(s.dir))
}

// onPostgres measures each kind of call on PostgreSQL, and compares single claims with River.
func onPostgres(ctx context.Context, s settings, r *results) error {
	if s.postgres == "" {
		return nil
	}
	ours, peer := postgresQueue(s.postgres), postgresPool(s.postgres)
	err := r.takeTurns(ctx, s.turns(5),
		measurement{rowClaims, rowDisk, load{8, s.calls(2000)}, with(ours, claims)},
		measurement{rowFetches, rowDisk, load{8, s.calls(2000)}, with(peer, riverFetches)})
	if err != nil {
		return err
	}
	return verbsOn(ctx, s, r, "PostgreSQL", ours)
}

// cyclesOnPostgres compares cycles on PostgreSQL with River: with 8 and 64 clients on new tables,
// and with 8 clients on tables with many finished tasks.
func cyclesOnPostgres(ctx context.Context, s settings, r *results) error {
	if s.postgres == "" {
		return nil
	}
	ours, peer := with(postgresQueue(s.postgres), cycles), with(postgresPool(s.postgres), riverOnPostgres)
	err := r.takeTurns(ctx, s.turns(5),
		measurement{rowPostgresCycles, rowDisk, load{8, s.calls(2000)}, ours},
		measurement{rowPostgresRiver, rowDisk, load{8, s.calls(2000)}, peer})
	if err != nil {
		return err
	}
	err = r.takeTurns(ctx, s.turns(5),
		measurement{rowManyCycles, rowDisk, load{64, s.calls(2000)}, ours},
		measurement{rowManyRiver, rowDisk, load{64, s.calls(2000)}, peer})
	if err != nil {
		return err
	}
	if err := besideFinished(ctx, s, r); err != nil {
		return err
	}
	return r.once(ctx, measurement{"cycles: ours on PostgreSQL, 1 clients", rowDisk, load{1, s.calls(2000)}, ours})
}

// verbsOn measures each kind of call of our queue, with 1,000 and with 100,000 pending tasks.
func verbsOn(ctx context.Context, s settings, r *results, engine string, db database[queue.Queue]) error {
	for _, pending := range []int{fewTasks, manyTasks} {
		err := db(ctx, func(q queue.Queue) error {
			if err := fill(ctx, q, s.calls(pending)); err != nil {
				return err
			}
			for _, clients := range clientCounts {
				for _, v := range verbs(q, s.calls(1000)) {
					row := fmt.Sprintf("%s: %s, %d pending, %d clients", v.name, engine, pending, clients)
					run := func(ctx context.Context, l load) (sample, error) { return measure(ctx, l, v.call) }
					if err := r.once(ctx, measurement{row, rowDisk, load{clients, v.n}, run}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
