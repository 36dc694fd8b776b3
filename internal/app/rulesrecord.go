package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
)

const recordHelp = `Turns an issue on GitHub into a test: prints an item for the tests: of a rule file,
with the fields of the issue and what the rules make of it today. With -o the item is
appended to the tests of that file, which stays as it is otherwise.

The title and the text of the issue are written out as they are, comments that GitHub
hides included: look at them before you publish those of a private repository.

The issue is read with GITHUB_TOKEN, and taken for a newly opened one unless
--event-name says otherwise.

Exit codes: 0 done, 1 something failed, 2 a mistake in arguments or files.`

// recordFlags are the flags of the command record.
type recordFlags struct {
	event        triageFlags
	name, output string
}

func (a App) rulesRecordCommand() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record OWNER/REPO#N [FILE…]",
		Short: "Turn an issue into a test",
		Long:  recordHelp,
		Example: "  foreman rules record octo-org/hello#42\n" +
			"  foreman rules record octo-org/hello#42 -o .github/foreman.yml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || !isIssue(args[0]) {
				return usagef("name an issue: OWNER/REPO#N")
			}
			f.event.issue, args = args[0], args[1:]
			if f.name == "" {
				f.name = f.event.issue
			}
			return a.recordTest(c.Context(), f, args)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "append the test to this `FILE`")
	fl.StringVar(&f.name, "name", "", "`NAME` of the test (default OWNER/REPO#N)")
	fl.StringVar(&f.event.eventName, "event-name", "", "`NAME` of the event, such as issues.edited (default issues.opened)")
	return c
}

func (a App) recordTest(ctx context.Context, f recordFlags, names []string) error {
	config, problems, err := a.loadFiles(ctx, names)
	if err != nil {
		return err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return &usageError{errs}
	}
	o, e, err := a.deskEvent(ctx, f.event, config)
	if err != nil {
		return err
	}
	if e.Issue.PullRequest {
		return usagef("record %s: only issues are recorded, and this is a pull request", f.event.issue)
	}
	o.Clock.Now = func() time.Time { return a.Now().Truncate(time.Second) }
	item, err := runner.RecordTest(ctx, o, e, f.name)
	if err != nil {
		return classify(err)
	}
	if f.output == "" {
		_, err = fmt.Fprint(a.Stdout, item)
		return printed(err)
	}
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	return appendTest(anywhere{dir}.path(f.output), f.output, item)
}

// appendTest puts an item under the tests of a file. The file is replaced as a whole,
// so that it is never half written.
func appendTest(path, name, item string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return usagef("-o: %w", err)
	}
	src, err := readFile(path, maxFile)
	if err != nil {
		return usagef("-o: %w", err)
	}
	out, err := ruletest.Insert(name, src, item)
	if err != nil {
		return &usageError{err}
	}
	info, err := os.Stat(path)
	if err != nil {
		return command.Failed(err)
	}
	if err := replaceFile(path, out, info.Mode().Perm()); err != nil {
		return command.Failed(fmt.Errorf("write %s: %w", name, err))
	}
	return nil
}

// replaceFile writes a file beside the old one, and puts it in its place.
func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".foreman-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
