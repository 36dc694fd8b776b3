package sqlqueue

import (
	"sync"

	"github.com/org/foreman-action/queue"
)

// watchers are the subscribers to changes in this process. They are safe for concurrent
// use.
type watchers struct {
	mu    sync.Mutex
	chans map[chan queue.Change]bool
}

// add adds a subscriber. stop removes it.
func (w *watchers) add() (changes <-chan queue.Change, stop func()) {
	ch := make(chan queue.Change, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chans[ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.chans[ch] {
			delete(w.chans, ch)
			close(ch)
		}
	}
}

// notify sends changes to all subscribers, without waiting for them.
func (w *watchers) notify(changes ...queue.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changes {
		for ch := range w.chans {
			select {
			case ch <- c:
			default: // the subscriber has 64 unread changes, so this one is not needed
			}
		}
	}
}
