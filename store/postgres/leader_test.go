package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/postgres"
)

// TestLead runs two processes that try to lead. Only one leads at a time. The other one leads when
// the first one resigns.
func TestLead(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	started := make(chan string, 10)
	results := make(chan error, 2)
	ends := map[string]context.CancelFunc{}
	for name, s := range map[string]*postgres.Store{"a": a, "b": b} {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		ends[name] = cancel
		go func() {
			results <- s.Lead(ctx, "poll", func(ctx context.Context) error {
				started <- name
				<-ctx.Done()
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
	ends[first]()
	if name := receive(t, started); name == first {
		t.Errorf("%s leads again after it resigned", name)
	}
	for _, end := range ends {
		end()
	}
	for range ends {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}

// TestLeadSilent cuts a leader off from the database without closing its connections. It stops, and
// another process leads after the lease has expired.
func TestLeadSilent(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	clock := queuetest.NewClock()
	other := open(t, url, postgres.Options{Now: clock.Now})
	m := newMute(t, url)
	first := open(t, m.url, postgres.Options{Timeout: 5 * time.Second, Now: clock.Now})
	ctx, cancel := context.WithCancel(t.Context())
	var leading sync.WaitGroup
	defer leading.Wait()
	defer m.end() // closing a silent connection takes a while
	defer cancel()
	started, ended := make(chan string, 10), make(chan string, 10)
	lead := func(s *postgres.Store, name string) {
		leading.Go(func() {
			_ = s.Lead(ctx, "poll", func(ctx context.Context) error { // the error is the context's
				started <- name
				<-ctx.Done()
				ended <- name
				return ctx.Err()
			})
		})
	}
	lead(first, "first")
	receive(t, started)
	lead(other, "other")
	m.silent.Store(true)
	if name := receive(t, ended); name != "first" {
		t.Errorf("%s ended, want the first one", name)
	}
	clock.Advance(15 * time.Second)
	if name := receive(t, started); name != "other" {
		t.Errorf("%s leads, want the other one", name)
	}
}
