// Package longpoll lets requests wait for a task of their agent.
//
// A Group has the waiting requests of all agents, those of one agent in the order in which
// they came. One goroutine, which runs only while requests wait, reads the queue's changes:
//
//   - A change of an agent's tasks wakes one of its waiters, the first that is not awake
//     already. It tries to claim. If it gets a task it wakes the next one, as one change can
//     stand for several tasks; if not, it goes on waiting. So one task does not have all
//     waiters run against the queue.
//   - Once a second one waiter of each agent is woken without a change. Changes can be
//     missed, and the queue reports none when the time comes until which a task was held back.
//   - A waiter that leaves although it was woken passes that on to the next one.
//
// Waiting ends with a task, after the timeout, when the client disconnects, or when the
// server stops. In the second and the last case the response contains no task.
package longpoll

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// interval is how often one waiter of each agent tries to claim without a change.
const interval = time.Second

// A Group is the set of waiting requests. It is safe for concurrent use.
type Group struct {
	watch func() (<-chan queue.Change, func())
	stop  <-chan struct{}

	mu      sync.Mutex
	waiting map[string][]*waiter // by agent, in the order in which they came
	n       int                  // of all agents
	quit    chan struct{}        // ends the goroutine that listens; used while n > 0

	listeners sync.WaitGroup
}

// A waiter is one request.
type waiter struct {
	agent string
	wake  chan struct{} // of capacity 1
}

// New returns a Group for a queue's Watch. When stop is closed, waiting ends at once.
func New(watch func() (<-chan queue.Change, func()), stop <-chan struct{}) *Group {
	return &Group{watch: watch, stop: stop, waiting: map[string][]*waiter{}}
}

// Claim calls claim until it returns anything but queue.ErrEmpty: at first, and then
// whenever the agent may have a task. It returns queue.ErrEmpty after the timeout and when
// the server stops, and the error of ctx when that ends.
func (g *Group) Claim(ctx context.Context, agent string, timeout time.Duration, claim func() (queue.Claim, error)) (queue.Claim, error) {
	w := g.join(agent)
	defer g.leave(w)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		// Also at first: a task may have come before the request joined.
		c, err := claim()
		if !errors.Is(err, queue.ErrEmpty) {
			if err == nil {
				g.wake(agent)
			}
			return c, err
		}
		select {
		case <-w.wake:
		case <-timer.C:
			return queue.Claim{}, queue.ErrEmpty
		case <-g.stop:
			return queue.Claim{}, queue.ErrEmpty
		case <-ctx.Done():
			return queue.Claim{}, ctx.Err()
		}
	}
}

// Wait waits for the Group's goroutine to end, after all calls of Claim have returned.
func (g *Group) Wait() { g.listeners.Wait() }

func (g *Group) join(agent string) *waiter {
	w := &waiter{agent: agent, wake: make(chan struct{}, 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting[agent] = append(g.waiting[agent], w)
	if g.n++; g.n == 1 {
		g.quit = make(chan struct{})
		changes, unwatch := g.watch()
		quit := g.quit
		g.listeners.Go(func() {
			defer unwatch()
			g.listen(changes, quit)
		})
	}
	return w
}

// leave removes a waiter. If the waiter was woken and has not tried to claim, leave wakes the next
// one instead.
func (g *Group) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := slices.DeleteFunc(g.waiting[w.agent], func(other *waiter) bool { return other == w })
	if g.waiting[w.agent] = rest; len(rest) == 0 {
		delete(g.waiting, w.agent)
	}
	if g.n--; g.n == 0 {
		close(g.quit)
	}
	select {
	case <-w.wake:
		wakeFirst(rest)
	default:
	}
}

// wake wakes one waiter of an agent.
func (g *Group) wake(agent string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wakeFirst(g.waiting[agent])
}

// wakeEach wakes one waiter of each agent.
func (g *Group) wakeEach() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, list := range g.waiting {
		wakeFirst(list)
	}
}

// wakeFirst wakes the first waiter that is not awake already.
func wakeFirst(list []*waiter) {
	for _, w := range list {
		select {
		case w.wake <- struct{}{}:
			return
		default:
		}
	}
}

// listen wakes waiters until quit is closed.
func (g *Group) listen(changes <-chan queue.Change, quit <-chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case change, ok := <-changes:
			if !ok {
				changes = nil // the queue reports no more; the ticks go on
			} else if change.Agent != "" {
				g.wake(change.Agent)
			}
		case <-tick.C:
			g.wakeEach()
		case <-quit:
			return
		}
	}
}
