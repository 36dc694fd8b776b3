package replay

import (
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/github"
)

// TestStopOf checks that only the end of the call budget stops a replay early.
func TestStopOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	other := errors.New("other")
	if got := stopOf(other); got != other {
		t.Errorf("got %v", got)
	}
	stop, ok := errors.AsType[*backtest.StopError](stopOf(&github.BudgetError{Reset: at}))
	if !ok || !stop.Until.Equal(at) {
		t.Errorf("got %v", stop)
	}
	if got := stopOf(nil); got != nil {
		t.Errorf("got %v", got)
	}
}
