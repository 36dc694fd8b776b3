package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestSlotsForgotten removes the slots that are no longer needed.
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
		_, ok, err := s.TakeSlot(t.Context(), queue.SlotRequest{Identity: "bot", PerMinute: 80, PerHour: 500})
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
