package postgres

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestRest adds several changes in quick succession. The first one is sent at once, and the
// changes during the following rest are sent in one notification.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(nil, time.Second, slog.New(slog.DiscardHandler))
		var mu sync.Mutex
		var sent []string
		want := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(sent, want) {
				t.Errorf("got %q, want %q", sent, want)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		go n.send(ctx, func(_ context.Context, payload string) error {
			agents := strings.Split(payload, "\n")[1:]
			slices.Sort(agents)
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, strings.Join(agents, " "))
			return nil
		})
		n.add(queue.Change{Agent: "a"})
		synctest.Wait()
		for range 9 {
			n.add(queue.Change{Agent: "b"})
			n.add(queue.Change{Agent: "c"})
			synctest.Wait()
		}
		want("a")
		time.Sleep(rest)
		want("a", "b c")
		stop()
		synctest.Wait()
	})
}
