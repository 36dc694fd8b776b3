// Package record is the command that turns an issue into a test.
package record

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
)

const help = `Turns an issue on GitHub into a test: prints an item for the tests: of a rule file,
with the fields of the issue and today's results of the rules. With -o the item is
appended to the tests of that file.

The test contains the title and the text of the issue unchanged, including hidden
comments: review them before you publish those of a private repository.

The issue is read with GITHUB_TOKEN, and counts as newly opened unless --event-name
names another event.

Exit codes: 0 done, 1 something failed, 2 a mistake in arguments or files.`

// Options are all that the command depends on.
type Options struct {
	Env       process.Env
	Issue     string   // OWNER/REPO#N
	EventName string   // such as issues.edited; empty: issues.opened
	Name      string   // of the test; empty: the issue
	Files     []string // empty: the configuration file
	Output    string   // file to append the test to; see [process.OutputFile]
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "record OWNER/REPO#N [FILE…]",
		Short: "Turn an issue into a test",
		Long:  help,
		Example: "  foreman rules record octo-org/hello#42\n" +
			"  foreman rules record octo-org/hello#42 -o .github/foreman.yml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || !delivery.IsIssue(args[0]) {
				return command.Usagef("name an issue: OWNER/REPO#N")
			}
			o.Issue, o.Files = args[0], args[1:]
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&o.Output, "output", "o", "", "append the test to this `FILE`")
	fl.StringVar(&o.Name, "name", "", "`NAME` of the test (default OWNER/REPO#N)")
	fl.StringVar(&o.EventName, "event-name", "", "`NAME` of the event, such as issues.edited (default issues.opened)")
	group.ValuesOf(c, "event-name", rules.Events)
	return c
}

// Run records a test, and prints it or appends it to a file.
func Run(ctx context.Context, o Options) error {
	o.Output = process.OutputFile(o.Output)
	cfg, err := rulefiles.LoadValid(ctx, o.Env, o.Files)
	if err != nil {
		return err
	}
	options, e, err := delivery.ForRules(ctx, o.Env, cfg, delivery.Request{Issue: o.Issue, Name: o.EventName})
	if err != nil {
		return err
	}
	if e.Issue.PullRequest {
		return command.Usagef("record %s: only issues are recorded, and this is a pull request", o.Issue)
	}
	options.Clock.Now = func() time.Time { return o.Env.Now().Truncate(time.Second) }
	facts, err := runner.Facts(ctx, options, e)
	if err != nil {
		return failure.Classify(fmt.Errorf("record a test: %w", err))
	}
	item, err := ruletest.Record(ctx, cfg.Rules, cmp.Or(o.Name, o.Issue), facts, cfg.Policy)
	if err != nil {
		return failure.Classify(err)
	}
	if o.Output == "" {
		return o.Env.Print(item)
	}
	dir, err := o.Env.WorkDir()
	if err != nil {
		return err
	}
	return appendTest(process.Below(dir, o.Output), o.Output, item)
}

// appendTest appends an item to the tests in a file. It replaces the file atomically.
func appendTest(path, name, item string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return command.Usagef("-o: %w", err)
	}
	src, err := files.Read(path, files.MaxSize)
	if err != nil {
		return command.Usagef("-o: %w", err)
	}
	out, err := ruletest.Insert(name, src, item)
	if err != nil {
		return command.Usage(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return command.Failed(err)
	}
	if err := files.Replace(path, out, info.Mode().Perm()); err != nil {
		return command.Failed(fmt.Errorf("write %s: %w", name, err))
	}
	return nil
}
