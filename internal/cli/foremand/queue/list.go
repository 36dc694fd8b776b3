package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/queue"
)

// listOptions are all that the command ls depends on.
type listOptions struct {
	*sharedOptions
	State  string       // empty: any
	Filter queue.Filter // its State is set from State above
}

func listCommand(shared *sharedOptions) *cobra.Command {
	o := listOptions{sharedOptions: shared}
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List tasks, the newest first",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("issue") && o.Filter.Issue < 1 {
				return fmt.Errorf("--issue: want 1 or more, got %d", o.Filter.Issue)
			}
			return runList(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.State, "state", "", "only tasks in this `state`: pending, claimed, completed, done or failed")
	group.Values(c, "state", "pending", "claimed", "completed", "done", "failed")
	fl.StringVar(&o.Filter.Agent, "agent", "", "only tasks of the agent with this `address`")
	fl.StringVar(&o.Filter.Repo, "repo", "", "only tasks of this repository, `owner/name`")
	fl.IntVar(&o.Filter.Issue, "issue", 0, "only tasks of the issue with this `number`; needs --repo")
	fl.IntVar(&o.Filter.Limit, "limit", 100, "maximum `number` of tasks")
	return c
}

// runList prints the tasks that the filter matches, and the counts of all tasks.
func runList(ctx context.Context, o listOptions) error {
	filter := o.Filter
	var err error
	if filter.State, err = parseState(o.State); err != nil {
		return err
	}
	if filter.Agent != "" {
		if filter.Agent, err = address.Canonical(filter.Agent); err != nil {
			return fmt.Errorf("--agent: %w", err)
		}
	}
	if owner, name, _ := strings.Cut(filter.Repo, "/"); filter.Repo != "" && (owner == "" || name == "" || strings.Contains(name, "/")) {
		return fmt.Errorf("--repo: want owner/name, got %q", filter.Repo)
	}
	if filter.Issue != 0 && filter.Repo == "" {
		return errors.New("--issue needs --repo, because the number alone would search through all tasks")
	}
	if filter.Limit < 1 {
		return fmt.Errorf("--limit: want 1 or more, got %d", filter.Limit)
	}
	return o.with(ctx, func(q database.Store) error {
		list, err := q.List(ctx, filter)
		if err != nil {
			return err
		}
		stats, err := q.Stats(ctx)
		if err != nil {
			return err
		}
		if o.JSON {
			return printListJSON(o.Env.Stdout, list, stats)
		}
		return printList(o.Env, list, stats)
	})
}

// parseState returns the state with a name, and no state for an empty name.
func parseState(s string) (queue.State, error) {
	var names []string
	for _, known := range queue.States() {
		if s == string(known) {
			return known, nil
		}
		names = append(names, string(known))
	}
	if s != "" {
		return "", fmt.Errorf("--state: want one of %s, got %q", strings.Join(names, ", "), s)
	}
	return "", nil
}

// printList prints tasks as a table, and the counts of all tasks.
func printList(env process.Env, list []queue.Info, stats queue.Stats) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	if len(list) > 0 {
		fmt.Fprintln(w, "TASK\tSTATE\tISSUE\tAGENT\tENQUEUED\tREASON")
	}
	for _, t := range list {
		fmt.Fprintf(w, "%s\t%s\t%s#%d\t%s\t%s\t%s\n", sanitize.Line(t.ID), stateText(t, env.Now()), sanitize.Line(t.Repo), t.Issue,
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
