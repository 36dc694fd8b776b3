// Package memory holds the commands of foremand that read the memory in the server's database: they report what
// became of the actions, and show or delete a record.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/records"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// Options are all that the commands depend on besides their own flags.
type Options struct {
	Env    process.Env
	Config string // configuration file; empty: none
	Queue  string // location of the database; empty: as configured
}

func (o *Options) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.Config, "config", "", "the `file` with the configuration")
	fl.StringVar(&o.Queue, "queue-db", "", "`file` of the queue, or postgres://…")
}

// with opens the database, calls f with the memory, and closes the database.
func (o *Options) with(ctx context.Context, f func(records.Memory) error) (err error) {
	q, err := deployment.OpenQueue(ctx, o.Env, o.Config, o.Queue)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.Failed(q.Close())) }()
	return f(records.Memory{Store: store{q}, Kind: "server"})
}

// A store is the memory of the server.
type store struct{ database.Store }

// DeleteRecord implements [records.Store]. It refuses an issue with an open task: the journal prevents repeated writes of
// the task.
func (s store) DeleteRecord(ctx context.Context, repo string, issue int) ([]string, error) {
	open := 0
	for _, state := range []queue.State{queue.Pending, queue.Claimed, queue.Completed} {
		if issue == memory.Repository {
			break // no task is about the repository
		}
		list, err := queue.List(ctx, s, queue.Filter{Repo: repo, Issue: issue, State: state})
		if err != nil {
			return nil, err
		}
		open += len(list)
	}
	if open > 0 {
		return nil, fmt.Errorf("the issue has %s that is not done; wait for it, or cancel it with foremand queue cancel", format.Count(open, "task"))
	}
	return s.Store.DeleteRecord(ctx, repo, issue)
}

const reportHelp = `Reports what became of Foreman's actions in a repository, from the database of the server:
for each rule or agent, action and label, how many of the judged actions people kept
or accepted, with the lower end of the one-sided 95 % confidence interval, and the
issues on which people undid or rejected them. It shows what waits, too.

With --config the report shows the state of each permission under
policy.automation: earned. The command works beside a server that runs, and changes
nothing; it refuses a database of another version.

Exit codes: 0 done, 1 the database cannot be read, 2 a mistake in arguments or files.`

// ReportCommand returns the command report with its flags.
func ReportCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var form records.Form
	c := &cobra.Command{
		Use:     "report OWNER/REPO",
		Short:   "Report what became of the actions, by rule, agent and label",
		Long:    reportHelp,
		Example: "  foremand report octo-org/hello --config config.yaml --since 90d",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("name one repository: OWNER/REPO")
			}
			return report(c.Context(), o, form, args[0])
		},
	}
	form.Flags(c)
	o.flags(c)
	return c
}

func report(ctx context.Context, o Options, form records.Form, repo string) error {
	since, err := form.Check(o.Env.Now())
	if err == nil {
		err = records.CheckRepo(repo)
	}
	if err != nil {
		return err
	}
	ro := records.Options{Repo: repo, Config: &config.Config{}, Now: o.Env.Now(), Since: since}
	api := o.Env.Getenv("GITHUB_API_URL")
	if o.Config == "" {
		ro.Notes = append(ro.Notes, "without --config the states of the permissions are not known")
	} else {
		c, configured, err := deployment.Runner(ctx, o.Env, o.Config)
		if err != nil {
			return err
		}
		ro.Config, api = c, cmp.Or(configured, api)
	}
	ro.Web = cmp.Or(strings.TrimRight(o.Env.Getenv("GITHUB_SERVER_URL"), "/"), address.Web(api), "https://github.com")
	return o.with(ctx, func(m records.Memory) error {
		r, err := records.Report(ctx, m, ro)
		if err != nil {
			return command.Failed(err)
		}
		return form.Write(o.Env, r)
	})
}

const help = `These commands work on one record of the memory in the database of the server: that of an
issue, or with the number 0 that of the repository, which has the track records.`

// Command returns the command memory with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Listing(&cobra.Command{Use: "memory", Short: "Show or delete the record of an issue", Long: help})
	c.AddCommand(showCommand(env), removeCommand(env))
	return c
}

func showCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var f records.ShowFormat
	c := &cobra.Command{
		Use: "show OWNER/REPO#N", Short: "Print a record as JSON",
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			ref, err := records.ParseRef(args, "")
			if err != nil {
				return err
			}
			return o.with(c.Context(), func(m records.Memory) error { return records.Show(c.Context(), o.Env, m, ref, f) })
		},
	}
	o.flags(c)
	f.Flags(c)
	return c
}

func removeCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	asJSON := false
	c := &cobra.Command{
		Use: "rm OWNER/REPO#N", Short: "Delete a record, the journals of its tasks and unreadable copies",
		Long: "Deletes the record of an issue, the journals of its tasks and unreadable copies, and prints\n" +
			"what it deleted. It refuses an issue with an open task. It asks nothing.\n\n" + records.RemoveRepository,
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := records.ParseRef(args, "")
			if err != nil {
				return err
			}
			return o.with(c.Context(), func(m records.Memory) error { return records.Remove(c.Context(), o.Env, m, ref, asJSON) })
		},
	}
	o.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, and nothing else")
	return c
}
