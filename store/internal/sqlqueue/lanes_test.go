package sqlqueue

import (
	"testing"

	"github.com/org/foreman-action/queue"
)

func task(id string, state, attempt, joins int) neighbour {
	return neighbour{Enqueued: queue.Enqueued{ID: id}, state: state, attempt: attempt, joinable: joins}
}

// TestNeighbours checks which task of a lane a new task waits for, and which task it may be
// joined to.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		list        []neighbour
		first, join string
	}{
		{"none", nil, "", ""},
		{"pending", []neighbour{task("1", statePending, 0, 1)}, "1", "1"},
		{"claimed", []neighbour{task("1", stateClaimed, 1, 1)}, "1", ""},
		{"claimed before", []neighbour{task("1", statePending, 1, 1)}, "1", ""},
		{"not joinable", []neighbour{task("1", statePending, 0, 0)}, "1", ""},
		{"the newest waits", []neighbour{task("1", stateClaimed, 1, 1), task("2", stateBehind, 0, 1)}, "1", "2"},
		{"all wait", []neighbour{task("1", stateBehind, 0, 1), task("2", stateBehind, 0, 1)}, "1", "2"},
		{"delayed", []neighbour{task("1", stateDelayed, 0, 1), task("2", stateDraining, 1, 1)}, "1", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := firstOf(tt.list); got != tt.first {
				t.Errorf("firstOf: got %q, want %q", got, tt.first)
			}
			if got, ok := joinable(tt.list); got.ID != tt.join || ok != (tt.join != "") {
				t.Errorf("joinable: got %q, %t, want %q", got.ID, ok, tt.join)
			}
		})
	}
}
