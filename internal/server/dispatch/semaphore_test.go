package dispatch

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestSemaphoreMany checks that a permit that is given back after another check, which also found more
// tasks than are counted, does not make further tasks unknown.
func TestSemaphoreMany(t *testing.T) {
	t.Parallel()
	s := &semaphore{now: time.Now}
	check := func() {
		s.begin()
		s.end(2, 0, queue.MaxBacklog)
	}
	check()
	p, ok, _ := s.acquire()
	if !ok {
		t.Fatal("there is no permit")
	}
	check()
	s.abandon(p)
	s.release()
	for n := range 2 {
		if p, ok, _ := s.acquire(); !ok || p.search {
			t.Errorf("permit %d: got %+v, %v, want one for a pending task", n+1, p, ok)
		}
	}
}
