// Package longpoll lets requests wait for a task of their agent.
//
// A Group contains the waiting requests of all agents, in the order of their arrival. While
// requests wait, one goroutine reads the queue's changes:
//
//   - A change of an agent's tasks wakes the agent's first sleeping waiter, which tries to
//     claim a task. If it gets one, it wakes the next waiter, because one change can stand for
//     several tasks. If not, it waits again. So a single task does not wake all waiters.
//   - Once per second, one waiter of each agent is woken without a change. Changes can be
//     missed, and the queue reports none when a delayed task becomes ready.
//   - A waiter that leaves after it was woken wakes the next one instead.
//
// A wait ends with a task, after the timeout, when the client disconnects, or when the server
// stops. After the timeout or a stop, the response contains no task.
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
	n       int                  // number of waiters of all agents
	quit    chan struct{}        // closed to end the listening goroutine; used while n > 0
	ended   chan struct{}        // closed when that goroutine has ended
}

// A waiter is one request.
type waiter struct {
	agent string
	wake  chan struct{} // of capacity 1
}

// New returns a Group for a queue's Watch method. After stop is closed, all waits end at once.
func New(watch func() (<-chan queue.Change, func()), stop <-chan struct{}) *Group {
	return &Group{watch: watch, stop: stop, waiting: map[string][]*waiter{}}
}

// Claim calls claim at once, and again whenever the agent may have a task, until claim returns
// another result than queue.ErrEmpty. Claim returns queue.ErrEmpty after the timeout and when the
// server stops. It returns ctx's error when ctx ends.
func (g *Group) Claim(ctx context.Context, agent string, timeout time.Duration, claim func() (queue.Claim, error)) (queue.Claim, error) {
	w := g.join(agent)
	defer g.leave(w)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		// Try first, because a task may have arrived before the request joined the group.
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

func (g *Group) join(agent string) *waiter {
	w := &waiter{agent: agent, wake: make(chan struct{}, 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting[agent] = append(g.waiting[agent], w)
	if g.n++; g.n == 1 {
		quit, ended := make(chan struct{}), make(chan struct{})
		g.quit, g.ended = quit, ended
		changes, unwatch := g.watch()
		go func() {
			defer close(ended)
			defer unwatch()
			g.listen(changes, quit)
		}()
	}
	return w
}

// leave removes a waiter. If the waiter was woken and has not tried to claim, leave wakes the next
// one instead. After the last waiter it waits for the goroutine to end, so that no call of the queue
// is left when all requests have ended.
func (g *Group) leave(w *waiter) {
	if ended := g.remove(w); ended != nil {
		<-ended
	}
}

// remove removes a waiter. After the last one it returns the channel that is closed when the
// goroutine has ended; else nil.
func (g *Group) remove(w *waiter) (ended <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := slices.DeleteFunc(g.waiting[w.agent], func(other *waiter) bool { return other == w })
	if g.waiting[w.agent] = rest; len(rest) == 0 {
		delete(g.waiting, w.agent)
	}
	if g.n--; g.n == 0 {
		close(g.quit)
		ended = g.ended
	}
	select {
	case <-w.wake:
		wakeFirst(rest)
	default:
	}
	return ended
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
				changes = nil // the queue reports no more changes, but the ticks continue
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
