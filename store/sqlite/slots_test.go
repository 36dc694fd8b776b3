package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestSlotsForgotten checks that slots older than an hour are deleted.
func TestSlotsForgotten(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 500 {
		now = now.Add(time.Minute)
		_, ok, err := s.Slots().TakeSlot(t.Context(), queue.SlotRequest{Identity: "bot", PerMinute: 80, PerHour: 500})
		if err != nil || !ok {
			t.Fatalf("got %v, %v", ok, err)
		}
	}
	var n int
	err = s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.Query("SELECT count(*) FROM write_slot", func(r sqlstore.Row) error { return r.Scan(&n) })
	})
	if err != nil || n != 60 {
		t.Errorf("got %d slots, %v, want those of an hour", n, err)
	}
}

// BenchmarkTakeSlot takes slots after many others of the same hour, once with the default limit
// and once with a limit that is never reached.
func BenchmarkTakeSlot(b *testing.B) {
	taken := 100_000
	if testing.Short() {
		taken = 1_000
	}
	for _, limit := range []int{500, 1_000_000} {
		b.Run(fmt.Sprintf("limit=%d/taken=%d", limit, taken), func(b *testing.B) {
			now := time.Now()
			s, err := Open(b.Context(), filepath.Join(b.TempDir(), "foreman.db"), Options{Now: func() time.Time { return now }})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			err = s.engine.Write(b.Context(), func(tx sqlstore.Tx) error {
				_, err := tx.Exec("WITH RECURSIVE i (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < $2) INSERT INTO write_slot (identity, at) SELECT 'bot', $1 - n FROM i", now.UnixMilli(), int64(taken))
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := s.Slots().TakeSlot(b.Context(), queue.SlotRequest{Identity: "bot", PerMinute: limit, PerHour: limit, Within: queue.MaxSlotWait}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
