package queue

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/server/database"
)

// purgeBatch is how many tasks one call deletes. It is small, so that other users of the queue do
// not wait long.
const purgeBatch = 500

// purgeOptions are all that the command purge depends on.
type purgeOptions struct {
	*sharedOptions
	Older string // minimum age of the tasks to delete, such as "30d"
}

func purgeCommand(shared *sharedOptions) *cobra.Command {
	o := purgeOptions{sharedOptions: shared}
	c := &cobra.Command{
		Use:   "purge --older AGE",
		Short: "Delete done and failed tasks that ended long ago",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runPurge(c.Context(), o) },
	}
	c.Flags().StringVar(&o.Older, "older", "", "minimum `age` of the deleted tasks, such as 30d or 12h")
	_ = c.MarkFlagRequired("older") // the flag is there
	return c
}

// runPurge deletes tasks in batches, and prints their number.
func runPurge(ctx context.Context, o purgeOptions) error {
	age, err := duration.Parse(o.Older)
	if err != nil || age < 0 {
		return fmt.Errorf("--older: want an age such as 30d or 12h, got %q", o.Older)
	}
	return o.with(ctx, func(q database.Store) error {
		before, total := o.Env.Now().Add(-age), 0
		for {
			n, err := q.Purge(ctx, before, purgeBatch)
			total += n
			if err == nil && n == purgeBatch {
				continue
			}
			if o.JSON {
				return o.printCount("deleted", total, err)
			}
			fmt.Fprintf(o.Env.Stdout, "%d tasks deleted\n", total)
			return err
		}
	})
}
