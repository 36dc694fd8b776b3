package queue

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/queue"
)

// listOptions are all that the command ls depends on.
type listOptions struct {
	*sharedOptions
	Filter queue.Filter // its Limit has no meaning
	Limit  int          // maximum number of tasks
}

const listHelp = `Lists tasks, the newest first. TEXT is what you would type into the dashboard's search box:
the address of an issue, owner/name#7, owner/name, the ID of a task or of a webhook's
delivery, or words of the issue's title.`

func listCommand(shared *sharedOptions) *cobra.Command {
	o := listOptions{sharedOptions: shared}
	c := &cobra.Command{
		Use:     "ls [TEXT…]",
		Aliases: []string{"list"},
		Short:   "List tasks, the newest first",
		Long:    listHelp,
	}
	flags := addFilter(c)
	c.Flags().IntVar(&o.Limit, "limit", 100, "maximum `number` of tasks")
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if o.Filter, err = flags.parse(o.Env, strings.Join(args, " ")); err != nil {
			return err
		}
		if o.Limit < 1 {
			return fmt.Errorf("--limit: want 1 or more, got %d", o.Limit)
		}
		return runList(c.Context(), o)
	}
	return c
}

// runList prints the tasks that the filter matches, and the counts of all tasks.
func runList(ctx context.Context, o listOptions) error {
	return o.with(ctx, func(q database.Store) error {
		list, next, err := search(ctx, q, o.Filter, o.Limit)
		if err != nil {
			return err
		}
		stats, err := q.Stats(ctx)
		if err != nil {
			return err
		}
		if o.JSON {
			return printListJSON(o.Env.Stdout, list, next, stats)
		}
		names, err := titles(ctx, q, list)
		if err != nil {
			return err
		}
		return printList(o.Env, list, names, stats)
	})
}

// search returns at most limit tasks that match, and the number before which there may be more; 0: there
// are none. It searches all tasks, in parts.
func search(ctx context.Context, q database.Store, f queue.Filter, limit int) (list []queue.Info, next int64, err error) {
	for more := true; more && len(list) < limit; more = next > 0 {
		f.Limit = min(limit-len(list), 1000)
		page, err := q.Search(ctx, f)
		if err != nil {
			return nil, 0, err
		}
		list, next, f.Before = append(list, page.Tasks...), page.Next, page.Next
	}
	return list, next, nil
}

// maxTitle is how many characters of a title a table has.
const maxTitle = 50

// printList prints tasks with their titles as a table, and the counts of all tasks.
func printList(env process.Env, list []queue.Info, titles []string, stats queue.Stats) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	if len(list) > 0 {
		fmt.Fprintln(w, "TASK\tSTATE\tISSUE\tTITLE\tAGENT\tENQUEUED\tREASON")
	}
	for i, t := range list {
		fmt.Fprintf(w, "%s\t%s\t%s#%d\t%s\t%s\t%s\t%s\n", sanitize.Line(t.ID), stateText(t, env.Now()), sanitize.Line(t.Repo), t.Issue, cmp.Or(short(titles[i], maxTitle), "-"),
			cmp.Or(sanitize.Line(t.Agent), "-"), t.Enqueued.UTC().Format(time.DateTime), sanitize.Line(t.Reason))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var counts []string
	for _, s := range queue.States() {
		counts = append(counts, fmt.Sprintf("%d %s", stats.States[s], s))
	}
	_, err := fmt.Fprintf(env.Stdout, "%s; %d delayed\n", strings.Join(counts, ", "), stats.Held)
	return err
}

// stateText returns the state of a task for people.
func stateText(t queue.Info, now time.Time) string {
	switch {
	case t.Held:
		return string(t.State) + ", delayed"
	case t.Draining:
		return fmt.Sprintf("%s, applying on server %s, lease ends in %s", t.State, sanitize.Line(t.Owner), max(0, t.Until.Sub(now)).Round(time.Second))
	}
	return string(t.State)
}
