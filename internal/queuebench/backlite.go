package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"time"

	"github.com/mikestefanello/backlite"
	_ "modernc.org/sqlite" // the driver of every SQLite subject
)

// openSQLite opens a database as peers recommend it, safe against power cuts.
func openSQLite(path string, conns int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	return db, nil
}

// backliteTask is a task of backlite's.
type backliteTask struct{ Text string }

// Config implements backlite.Task.
func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "bench", MaxAttempts: 3, Timeout: time.Minute}
}

// backliteCycles adds n tasks by several clients while workers process them, and returns
// how many were finished a second.
func backliteCycles(ctx context.Context, dir string, clients, n int) (float64, error) {
	db, err := openSQLite(filepath.Join(dir, "backlite.db"), 10)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var done sync.WaitGroup
	done.Add(n)
	client, err := backlite.NewClient(backlite.ClientConfig{DB: db, NumWorkers: peerWorkers, ReleaseAfter: time.Hour, Logger: silent{}})
	if err != nil {
		return 0, err
	}
	client.Register(backlite.NewQueue(func(context.Context, backliteTask) error {
		done.Done()
		return nil
	}))
	if err := client.Install(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client.Start(ctx)
	start := time.Now()
	if _, err := each(ctx, clients, n, func(ctx context.Context, _ int) error {
		_, err := client.Add(backliteTask{payload}).Ctx(ctx).Save()
		return err
	}); err != nil {
		return 0, err
	}
	done.Wait()
	rate := float64(n) / time.Since(start).Seconds()
	client.Stop(ctx)
	return rate, nil
}

// silent discards what backlite logs.
type silent struct{}

// Info implements backlite.Logger.
func (silent) Info(string, ...any) {}

// Error implements backlite.Logger.
func (silent) Error(string, ...any) {}
