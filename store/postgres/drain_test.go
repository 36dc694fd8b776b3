package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres/postgrestest"
)

// TestLeasedSome cancels a call after the first of two leases: the caller gets that one, for
// nobody else could carry it out.
func TestLeasedSome(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := OpenWatched(t, postgrestest.Start(t, "fsync=off").URL("postgres"), Options{}, &Witness{leased: cancel})
	for _, id := range []string{"1", "2"} {
		if err := enqueue(t.Context(), s, queue.Task{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	o := queue.DrainOptions{Lease: time.Hour, Limit: 2}
	if list, err := s.DrainCompleted(ctx, o); err != nil || len(list) != 1 || list[0].ID != "1" {
		t.Errorf("got %+v, %v, want the first one", list, err)
	}
	if list, err := s.DrainCompleted(ctx, o); !errors.Is(err, context.Canceled) || len(list) > 0 {
		t.Errorf("after the end: got %+v, %v, want context.Canceled", list, err)
	}
	if list, err := s.DrainCompleted(t.Context(), o); err != nil || len(list) != 1 || list[0].ID != "2" {
		t.Errorf("again: got %+v, %v, want the second one", list, err)
	}
}
