package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// peerWorkers is how many workers peers get: with fewer they are slower.
const peerWorkers = 100

// riverJob is a job of River's.
type riverJob struct{ Text string }

// Kind implements river.JobArgs.
func (riverJob) Kind() string { return "bench" }

// riverWorker counts the jobs.
type riverWorker struct {
	river.WorkerDefaults[riverJob]

	done *sync.WaitGroup
}

// Work implements river.Worker.
func (w *riverWorker) Work(context.Context, *river.Job[riverJob]) error {
	w.done.Done()
	return nil
}

// riverConfig is that of the quickest River: it looks for jobs every millisecond.
func riverConfig(done *sync.WaitGroup) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{done: done})
	return &river.Config{
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: peerWorkers}},
		Workers:       workers,
		FetchCooldown: time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	}
}

func migrateRiver[TTx any](ctx context.Context, driver riverdriver.Driver[TTx]) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// riverCycles inserts n jobs by several clients while workers work them off, and returns
// how many were finished a second.
func riverCycles[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], clients, n int) (float64, error) {
	var done sync.WaitGroup
	done.Add(n)
	if err := migrateRiver(ctx, driver); err != nil {
		return 0, err
	}
	client, err := river.NewClient(driver, riverConfig(&done))
	if err != nil {
		return 0, err
	}
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	if _, err := each(ctx, clients, n, func(ctx context.Context, _ int) error {
		_, err := client.Insert(ctx, riverJob{payload}, nil)
		return err
	}); err != nil {
		return 0, err
	}
	done.Wait()
	rate := float64(n) / time.Since(start).Seconds()
	return rate, client.Stop(ctx)
}

// riverSQLiteCycles is riverCycles on SQLite.
func riverSQLiteCycles(ctx context.Context, dir string, clients, n int) (float64, error) {
	db, err := openSQLite(filepath.Join(dir, "river.db"), 1)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return riverCycles(ctx, riversqlite.New(db), clients, n)
}

// riverFetches measures how often a second River fetches a single job on PostgreSQL, from a table
// of its own with more in it than is fetched.
func riverFetches(ctx context.Context, pool *pgxpool.Pool, clients, n int) (sample, error) {
	driver := riverpgxv5.New(pool)
	if err := migrateRiver(ctx, driver); err != nil {
		return sample{}, err
	}
	if _, err := pool.Exec(ctx, "TRUNCATE river_job"); err != nil {
		return sample{}, err
	}
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return sample{}, err
	}
	for at := 0; at < n+fewTasks; at += 1000 {
		batch := make([]river.InsertManyParams, min(1000, n+fewTasks-at))
		for i := range batch {
			batch[i].Args = riverJob{payload}
		}
		if _, err := client.InsertManyFast(ctx, batch); err != nil {
			return sample{}, err
		}
	}
	exec := driver.GetExecutor()
	got, err := each(ctx, clients, n, func(ctx context.Context, _ int) error {
		jobs, err := exec.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
			ClientID: "bench", MaxAttemptedBy: 10, MaxToLock: 1, Queue: river.QueueDefault,
		})
		if err == nil && len(jobs) != 1 {
			err = fmt.Errorf("river fetched %d jobs", len(jobs))
		}
		return err
	})
	if err != nil {
		return sample{}, err
	}
	_, err = pool.Exec(ctx, "TRUNCATE river_job") // else the workers of the next round work off what is left
	return got, err
}
