package queue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/export"
)

func exportCommand(shared *sharedOptions) *cobra.Command {
	var o export.Options
	var filter filterFlags
	c := &cobra.Command{
		Use:   "export [TEXT…]",
		Short: "Print tasks as JSON lines, the newest first",
		Long: `export prints one JSON object a line for each task that the flags select; TEXT is what
the search box of the dashboard accepts. Tasks that arrive meanwhile are not part of it.
If it breaks off, the last line may be incomplete: delete it, and continue with --before
and the seq of the last complete line.`,
		Example: "foremand queue export --since 7d --state failed > tasks.jsonl",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if c.Flags().Changed("limit") && o.Filter.Limit < 1 {
				return fmt.Errorf("--limit: want 1 or more, got %d", o.Filter.Limit)
			}
			limit := o.Filter.Limit
			if o.Filter, err = filter.parse(shared.Env, strings.Join(args, " ")); err != nil {
				return err
			}
			o.Filter.Limit = limit
			return runExport(c.Context(), *shared, o)
		},
	}
	filter = addFilter(c)
	c.Flags().IntVar(&o.Filter.Limit, "limit", 0, "maximum `number` of tasks; 0: all")
	c.Flags().BoolVar(&o.Payload, "payload", false, "also print the message, its origin and the agent's decision: texts of issues and agents")
	return c
}

// runExport prints the tasks. An error says where to continue.
func runExport(ctx context.Context, shared sharedOptions, o export.Options) error {
	return shared.with(ctx, func(store database.Store) error {
		w := bufio.NewWriter(shared.Env.Stdout)
		o.Flush = w.Flush
		got, err := export.Write(ctx, w, store, o)
		if err = errors.Join(err, w.Flush()); err != nil && got.Last > 0 {
			return fmt.Errorf("export tasks: %w; %d lines were written: continue after the last complete line with --before and its seq, such as --before %d", err, got.Lines, got.Last)
		}
		return err
	})
}
