package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/queue"
)

const queueHelp = `These commands work on the queue itself, beside a server that runs or without one: on
the database that --queue-db names, else on that of the configuration, else on
~/.foreman/queue.db.`

// An inspection is a command on the queue.
type inspection struct {
	p      program
	config string
	places places
	asJSON bool
}

func (p program) queueCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "queue", Short: "Look at the tasks, and change them", Long: queueHelp, Args: cobra.NoArgs, RunE: needsVerb}
	i := &inspection{p: p}
	f := cmd.PersistentFlags()
	f.StringVar(&i.config, "config", "", "the `file` with the configuration")
	f.StringVar(&i.places.queueDB, "queue-db", "", "`file` of the queue, or postgres://…")
	f.BoolVar(&i.asJSON, "json", false, "print JSON")
	cmd.AddCommand(i.list(), i.show(), i.retry(), i.cancel(), i.purge(), i.drain())
	return cmd
}

// with runs f on the queue. A file that does not exist is a mistake: none is made.
func (i *inspection) with(ctx context.Context, f func(queue.Queue) error) (err error) {
	var s *serverconfig.Config
	if i.config != "" {
		if s, err = serverconfig.Load(ctx, i.p.spec(i.config)); err != nil {
			return err
		}
	}
	place := i.places.queue(i.p, s)
	if !serverconfig.Postgres(place) {
		if _, err := os.Stat(strings.TrimPrefix(place, "file:")); err != nil {
			return fmt.Errorf("there is no queue: %w; name one with --queue-db, or the configuration with --config", err)
		}
	}
	q, err := openStore(ctx, place, nil)
	if err != nil {
		return storeError(err)
	}
	defer func() { err = errors.Join(err, command.Failed(q.Close())) }()
	return command.Failed(f(q))
}

// by is who the queue's log names for a change.
func (i *inspection) by() string {
	name, _ := i.p.lookup("USER")
	return strings.TrimSpace("foremand queue " + name)
}

func (i *inspection) list() *cobra.Command {
	var filter queue.Filter
	var state string
	cmd := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List tasks, the newest first", Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "only tasks in this `state`: pending, claimed, completed, done or failed")
	f.StringVar(&filter.Agent, "agent", "", "only those of the agent with this `address`")
	f.StringVar(&filter.Repo, "repo", "", "only those of this repository, `owner/name`")
	f.IntVar(&filter.Issue, "issue", 0, "only those of the issue with this `number`")
	f.IntVar(&filter.Limit, "limit", 100, "at most so `many`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		if filter.State, err = knownState(state); err != nil {
			return err
		}
		if filter.Agent != "" {
			if filter.Agent, err = address.Canonical(filter.Agent); err != nil {
				return fmt.Errorf("--agent: %w", err)
			}
		}
		if filter.Limit < 1 {
			return fmt.Errorf("--limit: want 1 or more, got %d", filter.Limit)
		}
		return i.with(cmd.Context(), func(q queue.Queue) error {
			list, err := q.List(cmd.Context(), filter)
			if err != nil {
				return err
			}
			stats, err := q.Stats(cmd.Context())
			if err != nil {
				return err
			}
			return i.printList(list, stats)
		})
	}
	return cmd
}

func knownState(s string) (queue.State, error) {
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

func (i *inspection) show() *cobra.Command {
	return &cobra.Command{
		Use: "show [TASK]", Short: "Show what became of a task, the newest one if none is named; with --json all that is kept of it",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return i.with(cmd.Context(), func(q queue.Queue) error {
				id, err := i.named(cmd.Context(), q, args)
				if err != nil {
					return err
				}
				d, err := q.Inspect(cmd.Context(), id)
				if err != nil {
					return fmt.Errorf("task %s: %w", id, err)
				}
				if i.asJSON {
					return i.printDetails(d)
				}
				_, err = io.WriteString(i.p.stdout, story(d))
				return err
			})
		},
	}
}

// named returns the task that the arguments name, else the newest one.
func (i *inspection) named(ctx context.Context, q queue.Queue, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	list, err := q.List(ctx, queue.Filter{Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errors.New("there is no task yet")
	}
	return list[0].ID, nil
}

// each runs a change on every task that is named, and goes on after one that cannot be
// changed.
func (i *inspection) each(ctx context.Context, ids []string, what string, change func(queue.Queue, string) error) error {
	return i.with(ctx, func(q queue.Queue) error {
		var errs []error
		for _, id := range ids {
			if err := change(q, id); err != nil {
				errs = append(errs, fmt.Errorf("task %s: %w", id, err))
				continue
			}
			fmt.Fprintf(i.p.stdout, "%s %s\n", id, what)
		}
		return errors.Join(errs...)
	})
}

func (i *inspection) retry() *cobra.Command {
	return &cobra.Command{
		Use: "retry TASK…", Short: "Take failed tasks up again, or let held ones go", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return i.each(cmd.Context(), args, "is taken up again", func(q queue.Queue, id string) error {
				_, err := q.Retry(cmd.Context(), id, i.by())
				return err
			})
		},
	}
}

func (i *inspection) cancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel TASK…", Short: "Give tasks up that are not done", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return i.each(cmd.Context(), args, "is cancelled", func(q queue.Queue, id string) error {
				return q.Cancel(cmd.Context(), id, i.by())
			})
		},
	}
}

// purgeBatch is how many tasks are deleted at once, so that the queue is not held up.
const purgeBatch = 500

func (i *inspection) purge() *cobra.Command {
	cmd := &cobra.Command{Use: "purge --older AGE", Short: "Delete done and failed tasks that ended long ago", Args: cobra.NoArgs}
	age := cmd.Flags().String("older", "", "`age` of what is deleted, such as 30d or 12h")
	_ = cmd.MarkFlagRequired("older")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := parseAge(*age)
		if err != nil {
			return fmt.Errorf("--older: %w", err)
		}
		return i.with(cmd.Context(), func(q queue.Queue) error {
			before, total := time.Now().Add(-d), 0
			for {
				n, err := q.Purge(cmd.Context(), before, purgeBatch)
				total += n
				if err != nil || n < purgeBatch {
					fmt.Fprintf(i.p.stdout, "%d tasks deleted\n", total)
					return err
				}
			}
		})
	}
	return cmd
}

const drainHelp = `Tells whether tasks are left that are pending, claimed or completed; with --wait it waits
until none is. The exit code is 1 if some are left. A server must run meanwhile.`

func (i *inspection) drain() *cobra.Command {
	cmd := &cobra.Command{Use: "drain", Short: "Wait until no task is left to be done", Long: drainHelp, Args: cobra.NoArgs}
	wait := cmd.Flags().Bool("wait", false, "wait until none is left")
	limit := cmd.Flags().Duration("timeout", 0, "how `long` to wait; 0: for ever")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		if *limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, *limit)
			defer cancel()
		}
		return i.with(cmd.Context(), func(q queue.Queue) error {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for {
				left, err := unfinished(cmd.Context(), q)
				if err != nil || left == 0 {
					return err
				}
				if !*wait {
					return fmt.Errorf("%d tasks are not done yet", left)
				}
				select {
				case <-ctx.Done():
					return fmt.Errorf("%d tasks are not done yet: %w", left, context.Cause(ctx))
				case <-tick.C:
				}
			}
		})
	}
	return cmd
}

func unfinished(ctx context.Context, q queue.Queue) (int, error) {
	stats, err := q.Stats(ctx)
	return stats.States[queue.Pending] + stats.States[queue.Claimed] + stats.States[queue.Completed], err
}

// printJSON prints a value as JSON. What steers a terminal in a text, or turns around what
// stands beside it, is written as an escape: JSON itself asks that only of the oldest.
func (i *inspection) printJSON(v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range b.String() { // what is no UTF-8 comes as U+FFFD
		if r == '\n' || r == ' ' || unicode.IsGraphic(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	_, err := io.WriteString(i.p.stdout, out.String())
	return err
}
