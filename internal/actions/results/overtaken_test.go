package results_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestCacheOvertaken checks a load that ends after a later save of the same store. The load must
// not replace the state that the save has stored. So a save that is based on the load fails at
// once, even if the service accepts a key twice.
func TestCacheOvertaken(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	o, waits := options(s), 0
	o.Sleep = func(ctx context.Context, _ time.Duration) error {
		waits++
		return ctx.Err()
	}
	store := cache(t, o)
	save(t, store, record(0))
	reached, hold := make(chan struct{}), make(chan struct{})
	s.Fault(resultstest.Fault{Method: "GET", Path: "/blob/*", Reached: reached, Hold: hold})
	loaded := make(chan memory.Record, 1)
	go func() {
		r, err := store.Load(t.Context(), "org/repo", 7)
		if err != nil {
			t.Errorf("Load: %v", err)
		}
		loaded <- r
	}()
	<-reached
	save(t, store, record(1))
	close(hold)
	old := <-loaded
	if old.Revision != 1 {
		t.Fatalf("the load began before the save: got revision %d, want 1", old.Revision)
	}
	if err := store.Save(t.Context(), old); !errors.Is(err, memory.ErrConflict) || waits > 0 {
		t.Errorf("got %v after %d waits, want ErrConflict after none", err, waits)
	}
	if r := load(t, store); r.Revision != 2 {
		t.Errorf("got revision %d, want 2", r.Revision)
	}
}
