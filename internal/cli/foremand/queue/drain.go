package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/queue"
)

const drainHelp = `Reports whether tasks are pending, claimed or completed; with --wait it waits
until none is. The exit code is 1 if some are left. A server must run meanwhile.`

// drainOptions are all that the command drain depends on.
type drainOptions struct {
	*sharedOptions
	Wait    bool          // wait until no task is left
	Timeout time.Duration // maximum time to wait; 0: unlimited
}

func drainCommand(shared *sharedOptions) *cobra.Command {
	o := drainOptions{sharedOptions: shared}
	c := &cobra.Command{
		Use:   "drain",
		Short: "Wait until every task has ended",
		Long:  drainHelp,
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runDrain(c.Context(), o) },
	}
	fl := c.Flags()
	fl.BoolVar(&o.Wait, "wait", false, "wait until every task has ended")
	fl.DurationVar(&o.Timeout, "timeout", 0, "how `long` to wait; 0: for ever")
	return c
}

// runDrain fails if unfinished tasks remain. With Wait it first waits for their end, at most for
// Timeout.
func runDrain(ctx context.Context, o drainOptions) error {
	wait := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	return o.with(ctx, func(q queue.Queue) error {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			stats, err := q.Stats(ctx)
			left := stats.States[queue.Pending] + stats.States[queue.Claimed] + stats.States[queue.Completed]
			if err != nil || left == 0 {
				return err
			}
			if !o.Wait {
				return fmt.Errorf("%d tasks are not done yet", left)
			}
			select {
			case <-wait.Done():
				return fmt.Errorf("%d tasks are not done yet: %w", left, context.Cause(wait))
			case <-tick.C:
			}
		}
	})
}
