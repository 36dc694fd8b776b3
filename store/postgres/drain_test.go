package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestLeasedSome cancels a call that has leased some decisions and is about to look for more. The
// caller gets the leased ones, because no other process could carry them out.
func TestLeasedSome(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := OpenWatched(t, Server(t).Schema(t), Options{}, &Witness{leased: cancel})
	add := func(id string) {
		t.Helper()
		if err := enqueue(t.Context(), s, queue.Task{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	add("1")
	add("2")
	o := queue.DrainOptions{Lease: time.Hour, Limit: 3}
	if list, err := s.Queue().LeaseDecisions(ctx, o); err != nil || len(list) != 2 || list[0].ID != "1" || list[1].ID != "2" {
		t.Errorf("got %+v, %v, want both", list, err)
	}
	add("3")
	if list, err := s.Queue().LeaseDecisions(ctx, o); !errors.Is(err, context.Canceled) || len(list) > 0 {
		t.Errorf("after the end: got %+v, %v, want context.Canceled", list, err)
	}
	if list, err := s.Queue().LeaseDecisions(t.Context(), o); err != nil || len(list) != 1 || list[0].ID != "3" {
		t.Errorf("again: got %+v, %v, want the third one", list, err)
	}
}
