// Package memory holds the commands that read the memory of a repository outside of a run: they report what
// became of the actions, and show or delete a record.
package memory

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/records"
	"github.com/org/foreman-action/internal/command"
)

// Options are all that the commands depend on besides their own flags.
type Options struct {
	Env    process.Env
	Config string // configuration file; empty: the default one
	Store  string // artifact, file or a folder; empty: as configured
}

func (o *Options) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.Store, "store", "", "the memory: artifact, file, or the `FOLDER` of a file store (default: as configured, or else artifact)")
	group.Values(c, "store", "artifact", "file")
	fl.StringVar(&o.Config, "config", "", "configuration `FILE` (default .github/foreman.yml, unless the folder is of another repository; else that of the repository)")
}

const environment = `

Environment: GITHUB_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY (the default for OWNER/REPO).

Exit codes: 0 done, 1 the memory or GitHub could not be read, 2 a mistake in arguments
or files.`

const reportHelp = `Reports what became of Foreman's actions in a repository: for each rule or agent, action and
label, how many of the judged actions people kept or accepted, with the lower end of
the one-sided 95 % confidence interval, and the issues on which people undid or
rejected them. Under policy.automation: earned it also shows the state of each
permission. It shows what waits, too: actions to judge, and proposals without an answer.

Actions are judged by scheduled runs, which save the outcomes in the memory. A rule
whose condition changes starts anew. docs/schedule.md explains the outcomes.

The memory is that of the configuration, or that of --store: artifact (read with
GITHUB_TOKEN), file, or a folder. The database of a server is read by foremand report.` + environment

// ReportCommand returns the command report with its flags.
func ReportCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var form records.Form
	c := &cobra.Command{
		Use:   "report [OWNER/REPO]",
		Short: "Report what became of the actions, by rule, agent and label",
		Long:  reportHelp,
		Example: "  foreman report octo-org/hello --since 90d\n" +
			"  foreman report octo-org/hello --format html -o report.html",
		RunE: func(c *cobra.Command, args []string) error { return report(c.Context(), o, form, args) },
	}
	form.Flags(c)
	o.flags(c)
	return c
}

func report(ctx context.Context, o Options, form records.Form, args []string) error {
	since, err := form.Check(o.Env.Now())
	if err != nil {
		return err
	}
	repo := o.Env.Getenv("GITHUB_REPOSITORY")
	switch len(args) {
	case 0:
	case 1:
		repo = args[0]
	default:
		return command.Usagef("want one repository, got %d arguments", len(args))
	}
	if err := records.CheckRepo(repo); err != nil {
		return err
	}
	place, err := open(ctx, o, repo)
	if err != nil {
		return err
	}
	r, err := records.Report(ctx, place.Memory, records.Options{
		Repo: repo, Web: webOf(o.Env), Config: place.config, Now: o.Env.Now(), Since: since, Notes: place.notes,
	})
	if err != nil {
		return command.Failed(err)
	}
	return form.Write(o.Env, r)
}

const help = `These commands work on one record of the memory: that of the issue N, or with N = 0 that
of the repository, which has the track records. The memory is that of the
configuration, or that of --store: artifact (with GITHUB_TOKEN), file, or a folder.
foremand memory does the same with the database of a server.` + environment

// Command returns the command memory with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Listing(&cobra.Command{Use: "memory", Short: "Show or delete the record of an issue", Long: help})
	c.AddCommand(showCommand(env), removeCommand(env))
	return c
}

func showCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var format records.ShowFormat
	c := &cobra.Command{
		Use:     "show (N | OWNER/REPO#N)",
		Short:   "Print a record as JSON",
		Long:    "Prints the record of the issue N as JSON, or with --format text a few lines for people.\nN = 0 is the record of the repository." + environment,
		Example: "  foreman memory show octo-org/hello#42\n  foreman memory show 0 --store file",
		RunE: func(c *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			ref, err := records.ParseRef(args, o.Env.Getenv("GITHUB_REPOSITORY"))
			if err != nil {
				return err
			}
			place, err := open(c.Context(), o, ref.Repo)
			if err != nil {
				return err
			}
			return records.Show(c.Context(), o.Env, place.Memory, ref, format)
		},
	}
	o.flags(c)
	format.Flags(c)
	return c
}

func removeCommand(env process.Env) *cobra.Command {
	o := Options{Env: env}
	asJSON := false
	c := &cobra.Command{
		Use:   "rm (N | OWNER/REPO#N)",
		Short: "Delete a record",
		Long: "Deletes the record of the issue N, and prints what it deleted. The token needs\n" +
			"actions: write for artifacts. It asks nothing.\n\n" + records.RemoveRepository + environment,
		Example: "  foreman memory rm octo-org/hello#42",
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := records.ParseRef(args, o.Env.Getenv("GITHUB_REPOSITORY"))
			if err != nil {
				return err
			}
			place, err := open(c.Context(), o, ref.Repo)
			if err != nil {
				return err
			}
			return records.Remove(c.Context(), o.Env, place.Memory, ref, asJSON)
		},
	}
	o.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, and nothing else")
	return c
}
