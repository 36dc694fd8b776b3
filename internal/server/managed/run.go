package managed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Run starts the agents, and watches over them until ctx ends; then it stops and removes
// them. The server must listen before: an agent may ask for tasks first thing. Agents that
// fail, and an engine that does not answer, do not end it: [Fleet.Statuses] tells of them.
func (f *Fleet) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	if len(f.list) > 0 && f.clear(ctx) {
		for i := range f.list {
			wg.Go(func() { f.run(ctx, i) })
		}
	}
	<-ctx.Done()
	wg.Wait()
	return nil
}

// clear removes what an earlier run left, as soon as the engine answers, and reports
// whether it did before ctx ended.
func (f *Fleet) clear(ctx context.Context) bool {
	for tries := 0; ; tries++ {
		left, err := f.o.Engine.Clear(ctx, f.o.Owner)
		for _, name := range left {
			f.o.Log.Warn("container of an earlier run removed", "container", name)
		}
		if err == nil {
			return true
		}
		for i := range f.list {
			f.set(i, Waiting, fmt.Sprintf("what an earlier run left cannot be removed: %v", err))
		}
		if f.o.Sleep(ctx, pause(tries)) != nil {
			return false
		}
	}
}

const (
	restarts    = 1               // how often an agent that ended is started again
	restartWait = 2 * time.Second // from its end until then
	maxPause    = time.Minute     // between two tries of what the engine refused
)

// pause is how long the engine is left alone after it failed for the n-th time, from 0.
func pause(n int) time.Duration {
	return min(restartWait<<min(n, 10), maxPause)
}

// run keeps one agent going. Only what the agent does counts against it: what the engine
// cannot do is tried again for as long as it takes.
func (f *Fleet) run(ctx context.Context, i int) {
	a := f.list[i].Agent // of which nothing changes
	defer func() {
		if ctx.Err() != nil {
			f.set(i, Stopped, "the server was stopped")
		}
	}()
	for ended, refused := 0, 0; ctx.Err() == nil; {
		reason, err := f.once(ctx, i, a)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.set(i, Waiting, err.Error())
			if f.o.Sleep(ctx, pause(refused)) != nil {
				return
			}
			refused++
			continue
		}
		refused = 0
		f.set(i, Unhealthy, reason)
		// An engine that stops takes its containers with it, and does not answer then.
		if f.o.Sleep(ctx, restartWait) != nil {
			return
		}
		if err := f.o.Engine.Ready(ctx); err != nil && ctx.Err() == nil {
			f.set(i, Waiting, fmt.Sprintf("the engine does not answer: %v", err))
			continue
		}
		if ended++; ended > restarts {
			f.set(i, Failed, reason)
			return
		}
		f.mu.Lock()
		f.list[i].Restarts++
		f.mu.Unlock()
		f.set(i, Starting, reason+"; it is started again")
	}
}

// removeTime bounds how long a container may take to stop, and the engine to remove it.
const removeTime = 20 * time.Second

// once runs one container of an agent to its end, and returns why it ended. The error says
// what the engine could not do.
func (f *Fleet) once(ctx context.Context, i int, a Agent) (reason string, err error) {
	id, err := f.o.Engine.Start(ctx, f.o.Owner, a)
	if id != "" {
		defer func() {
			// The containers go also when the server is asked to stop.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
			defer cancel()
			if err := f.o.Engine.Remove(ctx, id); err != nil {
				f.o.Log.Error("container could not be removed", "agent", a.Name, "error", err)
			}
		}()
	}
	if err != nil {
		return "", err
	}
	if f.Statuses()[i].State == Waiting {
		f.set(i, Starting, "the engine runs it now")
	}
	watch, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { f.watch(watch, i, a) })
	defer wg.Wait()
	defer stop()
	return f.await(ctx, id, a)
}

// await returns why a container ended. An engine that lost sight of it is asked again;
// when the container has ended meanwhile, nobody knows whether by itself.
func (f *Fleet) await(ctx context.Context, id string, a Agent) (reason string, err error) {
	for tries := 0; ; tries++ {
		code, output, err := f.o.Engine.Wait(ctx, id)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		switch {
		case err == nil && tries > 0, errors.Is(err, ErrGone):
			return "", errors.New("it ended while the engine did not answer, or was removed by somebody else")
		case err == nil:
			reason = fmt.Sprintf("it ended with exit code %d", code)
			if output = a.shown(output); output != "" {
				reason += ": " + output
			}
			return reason, nil
		}
		f.o.Log.Warn("the engine lost sight of a managed agent, and is asked again", "agent", a.Name, "error", err)
		if err := f.o.Sleep(ctx, pause(tries)); err != nil {
			return "", err
		}
	}
}
