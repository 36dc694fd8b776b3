package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A workload runs a load on one queue. It prepares the queue before and removes it afterwards; the
// time for this is not measured.
type workload func(ctx context.Context, l load) (sample, error)

// with returns a workload that runs on an empty database.
func with[T any](db database[T], run func(ctx context.Context, handle T, l load) (sample, error)) workload {
	return func(ctx context.Context, l load) (s sample, err error) {
		err = db(ctx, func(handle T) (err error) {
			s, err = run(ctx, handle, l)
			return err
		})
		return s, err
	}
}

// A load is n calls, made by several concurrent clients.
type load struct{ clients, n int }

// A sample is the result of one load.
type sample struct {
	rate     float64       // calls a second
	p50, p99 time.Duration // time of a call; 0: the calls were not timed one by one
	cpu      time.Duration // processor time of this process for each call; 0: not measured
}

// measure makes the calls of a load, numbered from 0, and times each. It ends with the
// first error.
func measure(ctx context.Context, l load, call func(ctx context.Context, i int) error) (sample, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	times := make([]time.Duration, l.n)
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range l.clients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < l.n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				began := time.Now()
				if err := call(ctx, i); err != nil {
					stop(err)
				}
				times[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	if ctx.Err() != nil {
		return sample{}, context.Cause(ctx)
	}
	slices.Sort(times)
	at := func(p float64) time.Duration { return times[int(p*float64(l.n))] }
	return sample{rate: float64(l.n) / took.Seconds(), p50: at(0.5), p99: at(0.99)}, nil
}

// measureWorkers adds the tasks of a load while the workers of another queue process them. The
// workers call done.Done for each processed task.
func measureWorkers(ctx context.Context, l load, done *sync.WaitGroup, add func(ctx context.Context) error) (sample, error) {
	done.Add(l.n)
	start := time.Now()
	if _, err := measure(ctx, l, func(ctx context.Context, _ int) error { return add(ctx) }); err != nil {
		return sample{}, err
	}
	done.Wait()
	return sample{rate: float64(l.n) / time.Since(start).Seconds()}, nil
}
