package queue

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/filter"
	past "github.com/org/foreman-action/queue/history"
)

func historyCommand(shared *sharedOptions) *cobra.Command {
	var span, agent, repo string
	c := &cobra.Command{
		Use:   "history",
		Short: "Count what became of tasks over hours and days",
		Long: `history counts the tasks that were received, decided, done and failed, in steps of a
range of time until now, and prints how long they waited, were decided on and were
applied: the median and the 99th percentile, which are at most a tenth too low or too
high. The server records this once a minute and keeps it for 90 days.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := url.Values{}
			for key, value := range map[string]string{"range": span, "agent": agent, "repo": repo} {
				if value != "" {
					v.Set(key, value)
				}
			}
			q, err := filter.ParseHistory(v)
			if err != nil {
				return err
			}
			return runHistory(c.Context(), *shared, q)
		},
	}
	var names []string
	for _, r := range past.Ranges() {
		names = append(names, r.Name)
	}
	fl := c.Flags()
	fl.StringVar(&span, "range", "24h", "the `time` until now: "+strings.Join(names, ", "))
	group.Values(c, "range", names...)
	fl.StringVar(&agent, "agent", "", "only tasks of the agent with this `address`")
	fl.StringVar(&repo, "repo", "", "only tasks of this repository, `owner/name`")
	return c
}

// runHistory prints the history of a range.
func runHistory(ctx context.Context, o sharedOptions, q past.Query) error {
	return o.with(ctx, func(store database.Store) error {
		s, err := store.History().Read(ctx, q)
		if err != nil {
			return err
		}
		if o.JSON {
			return printJSON(o.Env.Stdout, s)
		}
		return printHistory(o.Env.Stdout, s)
	})
}

// printHistory prints the points that are not empty as a table.
func printHistory(out io.Writer, s past.Series) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FROM (UTC)\tRECEIVED\tDECIDED\tDONE\tFAILED\tWAITING p50, p99\tDECIDING p50, p99\tAPPLYING p50, p99")
	row := func(name string, c past.Counts) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", name, c.Received, c.Decided, c.Done, c.Failed, percentiles(c.Waiting), percentiles(c.Deciding), percentiles(c.Applying))
	}
	for i, c := range s.Points {
		if c.Received+c.Decided+c.Done+c.Failed > 0 {
			row(s.At(i).Format("2006-01-02 15:04"), c)
		}
	}
	row("total", s.Total)
	if err := w.Flush(); err != nil {
		return err
	}
	var outcomes []string
	for _, o := range past.Outcomes() {
		if n := s.Total.Outcomes[o]; n > 0 {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", n, o))
		}
	}
	if len(outcomes) > 0 {
		fmt.Fprintf(out, "outcomes: %s\n", strings.Join(outcomes, ", "))
	}
	for _, b := range s.Budgets {
		text := "not reported by GitHub"
		for _, p := range b.Points {
			if p.Remaining >= 0 {
				text = fmt.Sprintf("at last %d of %d an hour", p.Remaining, p.Limit)
			}
		}
		fmt.Fprintf(out, "calls to GitHub as %s: %d; left: %s\n", sanitize.Line(b.Account), b.Calls(), text)
	}
	if s.Total.Skewed > 0 {
		fmt.Fprintf(out, "%d durations were negative, because a clock was set back, and count as 0\n", s.Total.Skewed)
	}
	if !s.Pending.IsZero() {
		fmt.Fprintf(out, "incomplete since %s: the server has not recorded all tasks yet\n", s.Pending.UTC().Format(time.DateTime))
	}
	return nil
}

// percentiles formats the median and the 99th percentile.
func percentiles(h past.Histogram) string {
	if h.N() == 0 {
		return "-"
	}
	return digits(h.Percentile(0.5)) + ", " + digits(h.Percentile(0.99))
}

// digits formats a duration with two or three digits.
func digits(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
