package queue

import (
	"cmp"
	"context"
	"fmt"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/database"
)

// bulkOptions are all that a command depends on which changes the tasks of a filter.
type bulkOptions struct {
	*sharedOptions
	Act    bulk.Act
	Limit  int    // maximum number of tasks; 0: all that match
	Done   string // the result of a changed task, such as "cancelled"
	DryRun bool   // only count
	Yes    bool   // change
}

// runBulk counts the tasks that match, and changes them. It reads and changes them in parts, so that it can
// be interrupted after each task.
func runBulk(ctx context.Context, o bulkOptions) error {
	act, err := o.Act.Check()
	if err != nil {
		return err
	}
	return o.with(ctx, func(q database.Store) error {
		var err error
		if act.Filter, err = bulk.Bounded(ctx, q, act.Filter); err != nil {
			return err
		}
		n, err := countAll(ctx, q, act)
		switch {
		case err != nil:
			return err
		case o.DryRun && o.JSON:
			return o.printCount("matching", n, nil)
		case o.DryRun:
			_, err := fmt.Fprintf(o.Env.Stdout, "matching: %s\n", format.Count(n, "task"))
			return err
		case !o.Yes:
			return fmt.Errorf("matching: %s; add --yes to change them", format.Count(n, "task"))
		}
		return o.change(ctx, q, act, n)
	})
}

// countAll counts the tasks of an act.
func countAll(ctx context.Context, q database.Store, act bulk.Act) (n int, err error) {
	f := act.Filter
	for more := true; more; more = f.Before > 0 {
		tally, err := q.Count(ctx, f)
		if err != nil {
			return 0, err
		}
		n += tally.N
		f.Before = tally.Next
	}
	return n, nil
}

// change changes the tasks of an act in parts, and prints the progress and the result. n is their number.
func (o bulkOptions) change(ctx context.Context, q database.Store, act bulk.Act, n int) (err error) {
	var sum bulk.Result
	for more := true; more && err == nil; more = sum.Next > 0 {
		tried := sum.Changed + sum.Skipped + sum.Failed
		if act.Limit = min(bulk.MaxTasks, cmp.Or(o.Limit, tried+bulk.MaxTasks)-tried); act.Limit <= 0 {
			break
		}
		var part bulk.Result
		part, err = bulk.Run(ctx, q, act)
		sum, act.Filter.Before = sum.Add(part), part.Next
		if sum.Next > 0 && !o.JSON {
			fmt.Fprintf(o.Env.Stderr, "%d of %d %s\n", sum.Changed, max(n, sum.Changed), o.Done)
		}
	}
	if failed := o.print(sum, err); failed != nil {
		return failed
	}
	if err != nil || sum.Failed > 0 {
		return command.Reported(command.ExitFailed)
	}
	return nil
}

// print prints the result of an act, which may have ended with an error.
func (o bulkOptions) print(sum bulk.Result, err error) error {
	if o.JSON {
		rows := func(result string, list []bulk.Failure) []changedRow {
			out := []changedRow{}
			for _, f := range list {
				out = append(out, changedRow{f.ID, result, f.Err.Error()})
			}
			return out
		}
		document := map[string]any{"version": 1, "changed": sum.Changed, "skipped": sum.Skipped, "failed": sum.Failed, "skips": rows("skipped", sum.Skips), "failures": rows("failed", sum.Failures)}
		if sum.Next > 0 {
			document["next"] = sum.Next
		}
		if err != nil {
			document["error"] = err.Error()
		}
		return printJSON(o.Env.Stdout, document)
	}
	for _, f := range sum.Failures {
		fmt.Fprintf(o.Env.Stderr, "Error: %s\n", sanitize.Line(f.Err.Error()))
	}
	for _, f := range sum.Skips {
		fmt.Fprintf(o.Env.Stderr, "skipped %s: %s\n", sanitize.Line(f.ID), bulk.Why(f.Err))
	}
	fmt.Fprintf(o.Env.Stdout, "%s: %s; skipped: %d; failed: %d\n", o.Done, format.Count(sum.Changed, "task"), sum.Skipped, sum.Failed)
	if err != nil {
		fmt.Fprintf(o.Env.Stderr, "Error: %s\n", sanitize.Line(err.Error()))
	}
	if sum.Next > 0 {
		fmt.Fprintf(o.Env.Stderr, "not complete; the same command with --before %d continues\n", sum.Next)
	}
	return nil
}
