package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

// changeOptions are all that a command depends on which changes tasks.
type changeOptions struct {
	*sharedOptions
	Tasks []string // their IDs, or their issues as owner/name#7
	Seen  string   // version of the only task, as the caller saw it; empty: any
	Done  string   // the result of a changed task, such as "cancelled"
	// Verb and Reason describe the change.
	Verb   bulk.Verb
	Reason string
}

func retryCommand(shared *sharedOptions) *cobra.Command {
	var asks bool
	o := changeOptions{sharedOptions: shared}
	c := changeCommand(&o, "retry [TASK…]", "Retry failed tasks, or release delayed ones; with --ask-again, ask the agent again")
	c.PreRunE = func(*cobra.Command, []string) error {
		if o.Reason != "" && !asks {
			return errors.New("--reason needs --ask-again")
		}
		if o.Verb, o.Done = bulk.Retry, "retried"; asks {
			o.Verb, o.Done = bulk.AskAgain, "asked again"
		}
		return nil
	}
	fl := c.Flags()
	fl.BoolVar(&asks, "ask-again", false, "forget the decisions on failed or done tasks, and ask the agent again")
	fl.StringVar(&o.Reason, "reason", "", "reason of --ask-again: a `text` for the log of the task")
	return c
}

func cancelCommand(shared *sharedOptions) *cobra.Command {
	o := changeOptions{sharedOptions: shared, Done: "cancelled", Verb: bulk.Cancel}
	return changeCommand(&o, "cancel [TASK…]", "Cancel tasks that are not done")
}

func releaseCommand(shared *sharedOptions) *cobra.Command {
	o := changeOptions{sharedOptions: shared, Done: "released", Verb: bulk.Release}
	return changeCommand(&o, "release [TASK…]", "End claims, so that the agents can claim the tasks again at once")
}

const changeHelp = `Changes the tasks with these IDs, or all tasks that the flags select. Instead of an ID,
owner/name#7 names the task of an issue, if exactly one is in a state that the command
changes; otherwise the command lists the IDs. With flags, --dry-run only counts the tasks,
and --yes changes them. The command goes from the newest task to older ones, and changes
each task once; it can be interrupted and started again. It skips tasks that change while
it runs. --seen names the version of one task, which show prints: if the task has changed
since, the command changes nothing.`

func changeCommand(o *changeOptions, use, short string) *cobra.Command {
	var all bulkOptions
	c := &cobra.Command{Use: use, Short: short, Long: changeHelp}
	flags := addFilter(c)
	fl := c.Flags()
	fl.IntVar(&all.Limit, "limit", 0, "maximum `number` of tasks that the flags select; 0: all")
	fl.BoolVar(&all.DryRun, "dry-run", false, "only count the tasks that the flags select")
	fl.StringVar(&o.Seen, "seen", "", "change the only TASK if it still has this `version`, which show prints")
	fl.BoolVar(&all.Yes, "yes", false, "change the tasks that the flags select")
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case slices.Contains(args, ""), len(args) == 0 && !flags.set():
			return fmt.Errorf("%s: want the IDs of tasks, or flags that select tasks; foremand queue ls lists them", c.CommandPath())
		case len(args) > 0 && (flags.set() || all.DryRun || all.Yes || all.Limit != 0):
			return fmt.Errorf("%s: want IDs of tasks or flags that select tasks, and not both", c.CommandPath())
		case o.Seen != "" && len(args) != 1:
			return errors.New("--seen: want one TASK")
		case o.Seen != "" && namesIssue(args[0]):
			return errors.New("--seen: want the ID of a task, which show prints beside the version; an issue may get another task")
		case all.Limit < 0:
			return fmt.Errorf("--limit: want 0 or more, got %d", all.Limit)
		case all.Yes && all.DryRun:
			return errors.New("--yes and --dry-run exclude each other")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.Tasks = args; len(args) > 0 {
			return runChange(c.Context(), *o)
		}
		f, err := flags.parse(o.Env, "")
		if err != nil {
			return err
		}
		all.sharedOptions, all.Done = o.sharedOptions, o.Done
		all.Act = bulk.Act{Verb: o.Verb, Filter: f, By: o.by("queue"), Reason: o.Reason}
		return runBulk(c.Context(), all)
	}
	return c
}

// by returns the author of changes that a command makes: the command, and who started it. With sudo, that is
// the person and not the account with which the command runs.
func (o sharedOptions) by(command string) string {
	return strings.TrimSpace("foremand " + command + " " + cmp.Or(o.Env.Getenv("SUDO_USER"), o.Env.Getenv("USER")))
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
	act := bulk.Act{Verb: o.Verb, By: o.by("queue"), Reason: o.Reason}
	if _, err := taskjson.Seen("", o.Seen); err != nil {
		return fmt.Errorf("--seen: %w", err)
	}
	return o.with(ctx, func(q database.Store) error {
		code := command.ExitOK
		var rows []changedRow
		for _, name := range o.Tasks {
			id, err := o.change(ctx, q, act, name)
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

// change changes the task with a name, and returns its ID. If none is found, id is the name.
func (o changeOptions) change(ctx context.Context, q database.Store, act bulk.Act, name string) (id string, err error) {
	t, err := find(ctx, q, name, o.Verb.States())
	if err == nil && o.Seen != "" {
		t, err = taskjson.Seen(t.ID, o.Seen)
	}
	if err != nil {
		return name, err
	}
	_, err = act.Change(ctx, q, t)
	if errors.Is(err, queue.ErrLost) {
		err = fmt.Errorf("%w; no agent has claimed it: foremand queue show has its state", err)
	}
	return t.ID, err
}
