package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// riverJob is a job of River's.
type riverJob struct{ Text string }

// Kind implements river.JobArgs.
func (riverJob) Kind() string { return "bench" }

// riverWorker reports each processed job to done.
type riverWorker struct {
	river.WorkerDefaults[riverJob]

	done *sync.WaitGroup
}

// Work implements river.Worker.
func (w *riverWorker) Work(context.Context, *river.Job[riverJob]) error {
	w.done.Done()
	return nil
}

func riverOnSQLite(ctx context.Context, db *sql.DB, l load) (sample, error) {
	return riverCycles(ctx, riversqlite.New(db), l)
}

func riverOnPostgres(ctx context.Context, pool *pgxpool.Pool, l load) (sample, error) {
	return riverCycles(ctx, riverpgxv5.New(pool), l)
}

func migrateRiver[TTx any](ctx context.Context, driver riverdriver.Driver[TTx]) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// riverCycles inserts jobs while workers process them. River is configured for speed: it waits
// only 1 ms between fetches and polls every 5 ms.
func riverCycles[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], l load) (sample, error) {
	if err := migrateRiver(ctx, driver); err != nil {
		return sample{}, err
	}
	var done sync.WaitGroup
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{done: &done})
	client, err := river.NewClient(driver, &river.Config{
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: peerWorkers}},
		Workers:       workers,
		FetchCooldown: time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return sample{}, err
	}
	if err := client.Start(ctx); err != nil {
		return sample{}, err
	}
	s, err := measureWorkers(ctx, l, &done, func(ctx context.Context) error {
		_, err := client.Insert(ctx, riverJob{payload}, nil)
		return err
	})
	return s, errors.Join(err, client.Stop(ctx))
}

// riverFetches fetches single jobs from a table that has more of them.
func riverFetches(ctx context.Context, pool *pgxpool.Pool, l load) (sample, error) {
	driver := riverpgxv5.New(pool)
	if err := migrateRiver(ctx, driver); err != nil {
		return sample{}, err
	}
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return sample{}, err
	}
	for at := 0; at < l.n+fewTasks; at += 1000 {
		batch := make([]river.InsertManyParams, min(1000, l.n+fewTasks-at))
		for i := range batch {
			batch[i].Args = riverJob{payload}
		}
		if _, err := client.InsertManyFast(ctx, batch); err != nil {
			return sample{}, err
		}
	}
	exec := driver.GetExecutor()
	return measure(ctx, l, func(ctx context.Context, _ int) error {
		jobs, err := exec.JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
			ClientID: "bench", MaxAttemptedBy: 10, MaxToLock: 1, Queue: river.QueueDefault,
		})
		if err == nil && len(jobs) != 1 {
			err = fmt.Errorf("river fetched %d jobs", len(jobs))
		}
		return err
	})
}
