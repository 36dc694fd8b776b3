package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/queuebench/internal/ratio"
)

const (
	warmUp   = 60 // events before the first measured one
	single   = 80 // events one at a time
	slowLoad = 64 // events at a time with slow calls, enough for the executors of two servers
)

// A key names a measured value of a build.
type key struct{ store, metric, build string }

// results are the measured values, one for each round, and what was counted once.
type results struct {
	values map[key][]float64
	steps  map[key][]float64      // milliseconds from the webhook to each step of one event at a time
	calls  map[key]map[string]int // calls to GitHub of one event at a time
	load   struct{ begin, end string }
}

func (r *results) add(s store, metric string, b build, value float64) {
	if r.values == nil {
		r.values = map[key][]float64{}
	}
	k := key{s.name, metric, b.name}
	r.values[k] = append(r.values[k], value)
}

func (r *results) step(s store, step string, b build, value float64) {
	if r.steps == nil {
		r.steps = map[key][]float64{}
	}
	k := key{s.name, step, b.name}
	r.steps[k] = append(r.steps[k], value)
}

// ratios returns the values of one build divided by those of the other one, for each turn.
func (r *results) ratios(of, to key) (list []float64) {
	a, b := r.values[of], r.values[to]
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			list = append(list, a[i]/b[i])
		}
	}
	return list
}

// The measured values.
const (
	rate16     = "events a second, 16 at a time"
	rate64     = "events a second, 64 at a time"
	serverCPU  = "processor time of the servers an event, ms"
	storeCPU   = "processor time of PostgreSQL an event, ms"
	driverCPU  = "processor time of this benchmark an event, ms"
	written50  = "one at a time: webhook to last write, p50 ms"
	written99  = "one at a time: webhook to last write, p99 ms"
	done50     = "one at a time: webhook to done, p50 ms"
	done99     = "one at a time: webhook to done, p99 ms"
	flushes1   = "flushes an event, one at a time"
	flushes16  = "flushes an event, 16 at a time"
	commits1   = "commits an event, one at a time"
	commits16  = "commits an event, 16 at a time"
	messages1  = "messages to PostgreSQL an event, one at a time"
	messages16 = "messages to PostgreSQL an event, 16 at a time"
	slowOne    = "events a second, one server"
	slowTwo    = "events a second, two servers"
)

// scale is the name of the comparison of one and two servers.
const scale = "scale"

// measure measures every store with all builds, which take turns in each round. Then it counts.
func measure(ctx context.Context, r *results, o options, builds []build, stores []store) error {
	each := func(s store, builds []build, what string, f func(context.Context, *results, options, build, store) error) error {
		for _, b := range builds {
			fmt.Fprintf(os.Stderr, "%s: %s, %s build, load average %s\n", what, s.title, b.name, loadAverage())
			if err := f(ctx, r, o, b, s); err != nil {
				return fmt.Errorf("%s: %s build on %s: %w", what, b.name, s.title, err)
			}
		}
		return nil
	}
	for round := range o.rounds {
		what := fmt.Sprintf("round %d of %d", round+1, o.rounds)
		for _, s := range stores {
			if o.only == "" || o.only == s.name {
				if err := each(s, turn(builds, round), what, measureStore); err != nil {
					return err
				}
			}
			if s.url != "" && (o.only == "" || o.only == scale) {
				if err := each(s, turn(builds, round), what+", slow calls", measureSlow); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range stores {
		if o.only == "" || o.only == s.name {
			if err := each(s, builds, "count", count); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureStore measures a build on a new database.
func measureStore(ctx context.Context, r *results, o options, b build, s store) error {
	st, err := start(ctx, o, setting{build: b, store: s})
	defer st.stop()
	if err != nil {
		return err
	}
	if _, err := st.load(ctx, warmUp, 16); err != nil {
		return err
	}
	servers, postgres, driver := st.serverTime(), familyTime(st.db.postmaster), ownTime()
	rate, err := st.load(ctx, o.events, 16)
	if err != nil {
		return err
	}
	each := func(before, after time.Duration) float64 { return 1e3 * (after - before).Seconds() / float64(o.events) }
	r.add(s, rate16, b, rate)
	r.add(s, serverCPU, b, each(servers, st.serverTime()))
	r.add(s, driverCPU, b, each(driver, ownTime()))
	if postgres > 0 {
		r.add(s, storeCPU, b, each(postgres, familyTime(st.db.postmaster)))
	}
	if rate, err = st.load(ctx, o.events, 64); err != nil {
		return err
	}
	r.add(s, rate64, b, rate)
	st.takeCalls()
	steps, err := st.oneAtATime(ctx, single)
	if err != nil {
		return err
	}
	if r.calls == nil {
		r.calls = map[key]map[string]int{}
	}
	r.calls[key{store: s.name, build: b.name}] = st.takeCalls()
	for step, times := range steps {
		r.step(s, step, b, ratio.Quantile(times, 0.5))
	}
	r.add(s, written50, b, ratio.Quantile(steps[stepWritten], 0.5))
	r.add(s, written99, b, ratio.Quantile(steps[stepWritten], 0.99))
	r.add(s, done50, b, ratio.Quantile(steps[stepDone], 0.5))
	r.add(s, done99, b, ratio.Quantile(steps[stepDone], 0.99))
	return st.check(1)
}

// measureSlow measures the throughput with a GitHub that takes o.slow for each call. Then events wait
// and use little of the processors.
func measureSlow(ctx context.Context, r *results, o options, b build, s store) error {
	o.concurrency = slowLoad
	st, err := start(ctx, o, setting{build: b, store: s, slow: o.slow})
	defer st.stop()
	if err != nil {
		return err
	}
	if _, err := st.load(ctx, slowLoad, slowLoad); err != nil {
		return err
	}
	rate, err := st.load(ctx, 4*slowLoad, slowLoad)
	if err != nil {
		return err
	}
	metric := slowOne
	if s.servers == 2 {
		metric = slowTwo
	}
	r.add(store{name: scale}, metric, b, rate)
	return st.check(1)
}

// load sends n events, clients of them at a time, and waits until all are done. It returns how many
// were done in a second. An event makes room for the next one when its comment arrives at GitHub.
func (st *stage) load(ctx context.Context, n, clients int) (rate float64, err error) {
	list := make([]delivery, n)
	for i := range list {
		if list[i], err = st.open(); err != nil {
			return 0, err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range clients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := st.send(ctx, list[i])
				if err == nil {
					_, err = st.comment(ctx, list[i])
				}
				if err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	st.sent += n
	if err := st.finished(ctx); err != nil {
		return 0, err
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// comment waits for the comment on an issue, and returns when it arrived at GitHub.
func (st *stage) comment(ctx context.Context, d delivery) (time.Time, error) {
	select {
	case at := <-d.arrived:
		return at, nil
	case <-time.After(time.Minute):
		return time.Time{}, fmt.Errorf("no comment on issue %d within a minute; calls to GitHub: %v\n%s", d.issue, st.takeCalls(), st.logs())
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// The steps of an event, besides the calls to GitHub and to the agent.
const (
	stepAccepted = "the webhook is answered"
	stepWritten  = "the comment arrives"
	stepDone     = "the task is done"
)

// oneAtATime sends n events one after the other. It returns the milliseconds from each webhook to each
// step of its event.
func (st *stage) oneAtATime(ctx context.Context, n int) (steps map[string][]float64, err error) {
	steps = map[string][]float64{}
	for range n {
		d, err := st.open()
		if err != nil {
			return nil, err
		}
		st.takeSteps()
		begin := time.Now()
		add := func(step string, at time.Time) { steps[step] = append(steps[step], 1e3*at.Sub(begin).Seconds()) }
		if err := st.send(ctx, d); err != nil {
			return nil, err
		}
		add(stepAccepted, time.Now())
		at, err := st.comment(ctx, d)
		if err != nil {
			return nil, err
		}
		add(stepWritten, at)
		st.sent++
		if err := st.finished(ctx); err != nil {
			return nil, err
		}
		add(stepDone, time.Now())
		for step, at := range st.takeSteps() {
			add(step, at)
		}
	}
	return steps, nil
}

// serverTime returns the processor time of the servers.
func (st *stage) serverTime() (sum time.Duration) {
	for _, s := range st.servers {
		p, _ := readStatus(s.cmd.Process.Pid)
		sum += p.own
	}
	return sum
}

// ownTime returns the processor time of this process.
func ownTime() time.Duration {
	p, _ := readStatus(os.Getpid())
	return p.own
}
