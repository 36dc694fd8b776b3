package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A sample is what one measurement gave: how often a second, and how long each took.
type sample struct {
	rate  float64
	times []time.Duration // sorted
}

// quantile returns the time that a part of them took at most.
func (s sample) quantile(p float64) time.Duration {
	if len(s.times) == 0 {
		return 0
	}
	return s.times[min(int(p*float64(len(s.times))), len(s.times)-1)]
}

// each runs f n times, by several clients at once, and times every one.
func each(ctx context.Context, clients, n int, f func(ctx context.Context, i int) error) (sample, error) {
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		mu    sync.Mutex
		all   []time.Duration
		first error
	)
	start := time.Now()
	for range clients {
		wg.Go(func() {
			times := make([]time.Duration, 0, n/clients+1)
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					break
				}
				began := time.Now()
				if err := f(ctx, i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
					next.Store(int64(n))
					break
				}
				times = append(times, time.Since(began))
			}
			mu.Lock()
			all = append(all, times...)
			mu.Unlock()
		})
	}
	wg.Wait()
	took := time.Since(start)
	if first == nil {
		first = ctx.Err()
	}
	slices.Sort(all)
	return sample{rate: float64(len(all)) / took.Seconds(), times: all}, first
}

// median returns the middle one of several values.
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile returns the value that a part of several ones do not exceed, between the two
// nearest ones where it falls between them; 0 if there are none.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	i := int(at)
	next := sorted[min(i+1, len(sorted)-1)]
	return sorted[i] + (next-sorted[i])*(at-float64(i))
}

// payload is what every subject keeps of a task: 1 KiB of JSON.
var payload = `{"task_id":"00000000-0000-4000-8000-000000000000","text":"` + strings.Repeat("x", 960) + `"}`
