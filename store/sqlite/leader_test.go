package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/store/sqlite"
)

// TestLead runs two processes that try to lead. Only one leads at a time, and the other one leads
// when the first one ends or stops renewing its lease.
func TestLead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	synctest.Test(t, func(t *testing.T) {
		handle := func() *sqlite.Store {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		a, b := handle(), handle()
		defer b.Close()
		var inOffice atomic.Int32
		term := func(d time.Duration, result error) func(context.Context) error {
			return func(ctx context.Context) error {
				if inOffice.Add(1) > 1 {
					t.Error("two lead")
				}
				defer inOffice.Add(-1)
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(d):
					return result
				}
			}
		}
		resigned := errors.New("resigned")
		start := time.Now()
		done := make(chan error)
		go func() { done <- a.Lead(t.Context(), "poll", term(time.Minute, resigned)) }()
		synctest.Wait()
		go func() { done <- b.Lead(t.Context(), "poll", term(time.Hour, nil)) }()
		if err := <-done; !errors.Is(err, resigned) || time.Since(start) != time.Minute {
			t.Errorf("the first leader: got %v after %s", err, time.Since(start))
		}
		time.Sleep(10 * time.Second)
		if inOffice.Load() != 1 {
			t.Error("there is no leader after the first one resigned")
		}
		if err := <-done; err != nil {
			t.Errorf("the second leader: %v", err)
		}
		// A leader whose store is closed loses the lead. The other process leads after the lease
		// has expired.
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { done <- a.Lead(ctx, "poll", term(time.Hour, nil)) }()
		time.Sleep(time.Second)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Lead(t.Context(), "poll", term(time.Minute, resigned)); !errors.Is(err, resigned) {
			t.Errorf("the one that took over: got %v", err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that was cut off: got %v", err)
		}
	})
}
