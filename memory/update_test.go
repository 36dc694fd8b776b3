package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/memory"
)

// TestUpdatePause measures the time of each try of an update that always meets a conflict. The
// second try follows at once, and the waits before the later tries differ.
func TestUpdatePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		differ := false
		for range 20 {
			var at []time.Duration
			start := time.Now()
			_, err := memory.Update(t.Context(), &script{Store: memory.New(), saveErr: memory.ErrConflict}, "org/repo", 42, func(*memory.Record) error {
				at = append(at, time.Since(start))
				return nil
			})
			if !errors.Is(err, memory.ErrConflict) || len(at) != 10 || at[1] != 0 {
				t.Fatalf("got %v, tries at %v", err, at)
			}
			for i, most := 2, time.Millisecond; i < len(at); i, most = i+1, 2*most {
				if wait := at[i] - at[i-1]; wait < 0 || wait > most {
					t.Errorf("wait %d: got %v, want at most %v", i, wait, most)
				}
			}
			differ = differ || at[9]-at[8] > 64*time.Millisecond
		}
		if !differ {
			t.Error("no wait of 20 was in the upper half")
		}
	})
}

// TestUpdatePauseEnds ends the context while an update waits.
func TestUpdatePauseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for tries := 1; tries <= 9; tries++ {
			ctx, cancel := context.WithCancel(t.Context())
			s := &script{Store: memory.New(), saveErr: memory.ErrConflict}
			_, err := memory.Update(ctx, s, "org/repo", 42, func(*memory.Record) error {
				if s.loads == tries {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait to try again") || s.saves != tries {
				t.Errorf("cancelled in try %d: got %v after %d", tries, err, s.saves)
			}
		}
	})
}
