package process_test

import (
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/build/process"
)

// TestSupervisorAttacked lets a command end or stop its supervisor. Run ends, and its error tells that
// processes may be left.
func TestSupervisorAttacked(t *testing.T) {
	t.Parallel()
	for script, lost := range map[string]bool{
		`setsid sleep 8 & kill -9 $PPID; sleep 8`: true,
		`kill -STOP $PPID; exec sleep 300`:        false,
	} {
		c, _ := shell(t, script)
		c.Idle, c.Grace = 300*time.Millisecond, time.Second
		got, err := runner().Run(t.Context(), c)
		if lost != errors.Is(err, process.ErrLost) || !lost && (err != nil || got.Cause != process.Idle) {
			t.Errorf("%s: %+v %v", script, got, err)
		}
	}
	c, _ := shell(t, `while kill -STOP $PPID; do :; done`)
	c.Idle = 300 * time.Millisecond
	if got, err := runner().Run(t.Context(), c); err != nil && !errors.Is(err, process.ErrLost) || got.OK() {
		t.Errorf("stopped again and again: %+v %v", got, err)
	}
}
