package process_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/build/process"
)

// TestSupervisorAttacked lets a command end or stop its supervisor. Run ends, and its error tells that
// processes may be left.
func TestSupervisorAttacked(t *testing.T) {
	t.Parallel()
	c, _ := shell(t, `setsid sleep 8 & kill -9 $PPID; sleep 8`)
	if got, err := runner().Run(t.Context(), c); !errors.Is(err, process.ErrLost) {
		t.Errorf("ended: %+v %v, want ErrLost", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, _ = shell(t, `kill -STOP $PPID; echo stopped; exec sleep 300`)
	c.Grace, c.Output = time.Second, writer(cancel)
	if got, err := runner().Run(ctx, c); err != nil || got.Cause != process.Canceled {
		t.Errorf("stopped: %+v %v, want canceled", got, err)
	}
	c, _ = shell(t, `while kill -STOP $PPID; do :; done`)
	c.Idle = 300 * time.Millisecond
	if got, err := runner().Run(t.Context(), c); err != nil && !errors.Is(err, process.ErrLost) || got.OK() {
		t.Errorf("stopped again and again: %+v %v", got, err)
	}
}
