package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/queue"
)

// changeOptions are all that a command depends on which changes tasks.
type changeOptions struct {
	*sharedOptions
	Tasks []string // their IDs
	// Change changes a task. The queue's log records by as its author.
	Change func(ctx context.Context, q queue.Queue, id, by string) error
	Done   string // the result of a changed task, such as "cancelled"
}

func retryCommand(shared *sharedOptions) *cobra.Command {
	var asks bool
	var reason string
	o := changeOptions{sharedOptions: shared}
	c := changeCommand(&o, "retry TASK…", "Retry failed tasks, or release delayed ones; with --ask-again, ask the agent again")
	c.PreRunE = func(*cobra.Command, []string) error {
		if reason != "" && !asks {
			return errors.New("--reason needs --ask-again")
		}
		o.Done, o.Change = "retried", func(ctx context.Context, q queue.Queue, id, by string) error {
			_, err := q.Retry(ctx, id, by)
			return err
		}
		if asks {
			o.Done, o.Change = "asked again", func(ctx context.Context, q queue.Queue, id, by string) error {
				_, err := q.AskAgain(ctx, id, by, reason)
				return err
			}
		}
		return nil
	}
	fl := c.Flags()
	fl.BoolVar(&asks, "ask-again", false, "forget the decisions on failed or done tasks, and ask the agent again")
	fl.StringVar(&reason, "reason", "", "reason of --ask-again: a `text` for the log of the task")
	return c
}

func cancelCommand(shared *sharedOptions) *cobra.Command {
	o := changeOptions{sharedOptions: shared, Done: "cancelled"}
	o.Change = func(ctx context.Context, q queue.Queue, id, by string) error { return q.Cancel(ctx, id, by) }
	return changeCommand(&o, "cancel TASK…", "Cancel tasks that are not done")
}

func releaseCommand(shared *sharedOptions) *cobra.Command {
	o := changeOptions{sharedOptions: shared, Done: "released"}
	o.Change = func(ctx context.Context, q queue.Queue, id, _ string) error {
		err := q.ReleaseClaim(ctx, queue.Ref{ID: id}, 0)
		if errors.Is(err, queue.ErrLost) {
			return fmt.Errorf("%w; no agent has claimed it: foremand queue show has its state", err)
		}
		return err
	}
	return changeCommand(&o, "release TASK…", "End claims, so that the agents can claim the tasks again at once")
}

func changeCommand(o *changeOptions, use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains(args, "") {
				return fmt.Errorf("%s: want the IDs of tasks; foremand queue ls lists them", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.Tasks = args
			return runChange(c.Context(), *o)
		},
	}
}

// A changedRow is the result of one task in the printed JSON. The format is stable: new versions only
// add fields.
type changedRow struct {
	ID     string `json:"task_id"`
	Result string `json:"result"`          // "failed", or what was done, such as "cancelled"
	Error  string `json:"error,omitempty"` // why the task was not changed
}

// runChange changes each task. It continues after a task that cannot be changed, and reports it.
func runChange(ctx context.Context, o changeOptions) error {
	by := strings.TrimSpace("foremand queue " + o.Env.Getenv("USER"))
	return o.with(ctx, func(q database.Store) error {
		code := command.ExitOK
		var rows []changedRow
		for _, id := range o.Tasks {
			err := o.Change(ctx, q, id, by)
			if err != nil {
				code = command.ExitFailed
			}
			switch {
			case o.JSON && err != nil:
				rows = append(rows, changedRow{id, "failed", err.Error()})
			case o.JSON:
				rows = append(rows, changedRow{ID: id, Result: o.Done})
			case err != nil:
				fmt.Fprintf(o.Env.Stderr, "Error: %s\n", sanitize.Line(err.Error()))
			default:
				fmt.Fprintf(o.Env.Stdout, "%s is %s\n", id, o.Done)
			}
		}
		if o.JSON {
			if err := printJSON(o.Env.Stdout, map[string]any{"version": 1, "tasks": rows}); err != nil {
				return err
			}
		}
		return command.Reported(code)
	})
}
