package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
)

const drainHelp = `Fails if tasks are unfinished: pending, claimed, or completed but not applied. With
--wait it first waits until all have ended, which needs a running server, and prints what they
wait for.

Exit codes: 0 all tasks have ended, 1 some are unfinished, 2 a mistake in the arguments.`

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
		Short: "Report unfinished tasks; with --wait, wait until all have ended",
		Long:  drainHelp,
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runDrain(c.Context(), o) },
	}
	fl := c.Flags()
	fl.BoolVar(&o.Wait, "wait", false, "wait until all tasks have ended")
	fl.DurationVar(&o.Timeout, "timeout", 0, "with --wait, the maximum `duration`; 0: no limit")
	return c
}

// runDrain fails if unfinished tasks remain. With Wait it first waits for their end, at most for
// Timeout.
func runDrain(ctx context.Context, o drainOptions) error {
	wait := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("waited for %s", o.Timeout))
		defer cancel()
	}
	return o.with(ctx, func(q database.Store) error {
		left, err := await(ctx, wait, q, o)
		if o.JSON && (err == nil || left > 0) {
			return o.printCount("unfinished", left, err)
		}
		return err
	})
}

// await returns the number of unfinished tasks, and an error unless the number is 0. With Wait, await
// counts the tasks every second until none is unfinished or the context wait ends, and prints what they
// wait for when that changes.
func await(ctx, wait context.Context, q database.Store, o drainOptions) (int, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	printed := ""
	for {
		stats, err := q.Stats(ctx)
		if err != nil {
			return 0, err
		}
		pauses, err := q.ListPauses(ctx, true)
		if err != nil {
			return 0, err
		}
		left, text, err := unfinished(ctx, q, pauses, stats)
		if err != nil || left == 0 {
			return 0, err
		}
		failure := fmt.Errorf("%s not done yet", format.Count(left, "task"))
		if !o.Wait {
			return left, failure
		}
		if text != printed && !o.JSON {
			fmt.Fprintf(o.Env.Stderr, "waiting: %s\n", sanitize.Line(text))
			printed = text
		}
		select {
		case <-wait.Done():
			return left, fmt.Errorf("%w: %w", failure, context.Cause(wait))
		case <-tick.C:
		}
	}
}
