package main

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/mikestefanello/backlite"
)

// peerWorkers is how many workers the other queues get. With fewer workers they are slower.
const peerWorkers = 100

// backliteTask is a task of backlite's.
type backliteTask struct{ Text string }

// Config implements backlite.Task.
func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "bench", MaxAttempts: 3, Timeout: time.Minute}
}

// backliteCycles adds tasks while workers process them.
func backliteCycles(ctx context.Context, db *sql.DB, l load) (sample, error) {
	client, err := backlite.NewClient(backlite.ClientConfig{DB: db, NumWorkers: peerWorkers, ReleaseAfter: time.Hour, Logger: silent{}})
	if err != nil {
		return sample{}, err
	}
	var done sync.WaitGroup
	client.Register(backlite.NewQueue(func(context.Context, backliteTask) error {
		done.Done()
		return nil
	}))
	if err := client.Install(); err != nil {
		return sample{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client.Start(ctx)
	defer client.Stop(ctx)
	return measureWorkers(ctx, l, &done, func(ctx context.Context) error {
		_, err := client.Add(backliteTask{payload}).Ctx(ctx).Save()
		return err
	})
}

// silent discards backlite's log.
type silent struct{}

// Info implements backlite.Logger.
func (silent) Info(string, ...any) {}

// Error implements backlite.Logger.
func (silent) Error(string, ...any) {}
