package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/org/foreman-action/store/postgres"
)

// TestLead runs two processes that try to lead. Only one leads at a time, and the other one leads
// when the first one loses its connection or ends.
func TestLead(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	started := make(chan string, 10)
	ended := make(chan string, 10)
	results := make(chan error, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, s := range map[string]*postgres.Store{"a": a, "b": b} {
		go func() {
			results <- s.Lead(ctx, "poll", func(ctx context.Context) error {
				started <- name
				<-ctx.Done()
				ended <- name
				return ctx.Err()
			})
		}()
	}
	first := receive(t, started)
	other := open(t, url, postgres.Options{})
	if err := other.Lead(t.Context(), "another name", func(context.Context) error { return errors.New("by itself") }); err == nil || err.Error() != "by itself" {
		t.Errorf("another name: got %v", err)
	}
	select {
	case name := <-started:
		t.Fatalf("%s leads beside %s", name, first)
	default:
	}
	admin(t, url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE "+leading)
	if name := receive(t, ended); name != first {
		t.Errorf("%s ended, want %s", name, first)
	}
	receive(t, started) // either one may be first
	cancel()
	for range 2 {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}
