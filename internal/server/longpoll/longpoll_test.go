package longpoll

import (
	"testing"
	"testing/synctest"

	"github.com/org/foreman-action/queue"
)

// TestLeaveWoken checks that if a woken waiter leaves without a try, the next waiter is woken.
func TestLeaveWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // no time passes in the bubble
		g := New(func() (<-chan queue.Change, func()) { return nil, func() {} }, nil)
		first, second, other := g.join("a"), g.join("a"), g.join("b")
		g.wake("a")
		if len(first.wake) != 1 || len(second.wake) != 0 {
			t.Fatal("want the first one woken, and no other")
		}
		g.leave(first)
		if len(second.wake) != 1 || len(other.wake) != 0 {
			t.Error("want the second one woken, and nobody who waits for another agent")
		}
		g.leave(second)
		g.leave(other) // the bubble fails the test if the goroutine is left
	})
}
