package server

import (
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// look is how often one of those who wait for an agent's task looks for one unasked: a
// change may be missed, and a time that a task was held back until is never told.
const look = time.Second

// waiters are the requests that wait for a task. A change wakes one of an agent's; that
// one wakes the next when it found a task, so that a task does not wake them all.
type waiters struct {
	watch func() (<-chan queue.Change, func())

	mu   sync.Mutex
	by   map[string][]*waiter // by agent, in the order in which they came
	n    int
	quit chan struct{} // ends the goroutine that listens; nil: nobody waits, and there is none

	idle sync.WaitGroup
}

// A waiter is one request.
type waiter struct {
	agent string
	woken chan struct{}
}

func newWaiters(watch func() (<-chan queue.Change, func())) *waiters {
	return &waiters{watch: watch, by: map[string][]*waiter{}}
}

// join adds a waiter. Who joins must leave.
func (ws *waiters) join(agent string) *waiter {
	w := &waiter{agent: agent, woken: make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.by[agent] = append(ws.by[agent], w)
	if ws.n++; ws.n == 1 {
		ws.quit = make(chan struct{})
		changes, stop := ws.watch()
		quit := ws.quit
		ws.idle.Go(func() {
			defer stop()
			ws.listen(changes, quit)
		})
	}
	return w
}

// leave takes a waiter away. If it was woken and did not look, the next one does.
func (ws *waiters) leave(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	rest := slices.DeleteFunc(ws.by[w.agent], func(other *waiter) bool { return other == w })
	if ws.by[w.agent] = rest; len(rest) == 0 {
		delete(ws.by, w.agent)
	}
	if ws.n--; ws.n == 0 {
		close(ws.quit)
	}
	select {
	case <-w.woken:
		wakeOne(rest)
	default:
	}
}

// wake lets the first one of an agent look that was not told to yet.
func (ws *waiters) wake(agent string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	wakeOne(ws.by[agent])
}

func (ws *waiters) wakeAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, list := range ws.by {
		wakeOne(list)
	}
}

func wakeOne(list []*waiter) {
	for _, w := range list {
		select {
		case w.woken <- struct{}{}:
			return
		default:
		}
	}
}

// listen wakes waiters until quit is closed.
func (ws *waiters) listen(changes <-chan queue.Change, quit <-chan struct{}) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case change, ok := <-changes:
			if !ok {
				changes = nil // the queue tells no more; the looks go on
			} else if change.Agent != "" {
				ws.wake(change.Agent)
			}
		case <-tick.C:
			ws.wakeAll()
		case <-quit:
			return
		}
	}
}
