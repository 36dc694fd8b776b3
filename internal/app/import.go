package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/strictyaml"
)

const importHelp = `Reads another tool's configuration and writes ours to standard output, or to a file
with -o. What has no counterpart is listed on standard error with its place, and
stands as a comment beside the rule in the file; a rule that would do something else
is left out and stands there as a comment.

  labeler        .github/labeler.yml of actions/labeler, before and since version 5
  issue-labeler  .github/labeler.yml of github/issue-labeler
  label-actions  .github/label-actions.yml of dessant/label-actions
  stale          the workflow that uses actions/stale, or a mapping of its inputs

The inputs of the first three stand in their workflow: name it with --workflow. FILE
may be "-" for standard input.

Exit codes: 0 something was imported, 1 nothing could be, 2 a mistake in the arguments,
or the file is no configuration of the tool.`

// importFlags are the flags of rules import.
type importFlags struct {
	output   string
	workflow string
	force    bool
}

func (a App) rulesImportCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import TOOL FILE",
		Short: "Turn another tool's configuration into a rule file",
		Long:  importHelp,
		Example: "  foreman rules import labeler .github/labeler.yml --workflow .github/workflows/labeler.yml\n" +
			"  foreman rules import stale .github/workflows/stale.yml -o .github/foreman.yml",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("name a tool (%s) and its file", strings.Join(importer.Tools(), ", "))
			}
			return a.importRules(args[0], args[1], f)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "`FILE` to write instead of standard output")
	fl.StringVar(&f.workflow, "workflow", "", "workflow `FILE` that runs the tool, for its inputs and events")
	fl.BoolVar(&f.force, "force", false, "overwrite the file of -o")
	return c
}

func (a App) importRules(tool, name string, f importFlags) error {
	switch {
	case !slices.Contains(importer.Tools(), tool):
		return usagef("unknown tool %q%s; there are %s", tool, strictyaml.DidYouMean(tool, importer.Tools()), strings.Join(importer.Tools(), ", "))
	case f.workflow != "" && tool == "stale":
		return usagef("--workflow: for stale the workflow is FILE itself")
	case f.force && f.output == "":
		return usagef("--force goes with -o")
	}
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(anywhere{dir}.path(f.output)); f.output != "" && err == nil && !f.force {
		return usagef("%s exists; --force overwrites it", f.output)
	}
	req := importer.Request{Tool: tool}
	if req.File, err = a.importSource(dir, name); err != nil {
		return err
	}
	if f.workflow != "" {
		if req.Workflow, err = a.importSource(dir, f.workflow); err != nil {
			return err
		}
	}
	res, err := importer.Import(req)
	if err != nil {
		return &usageError{err}
	}
	if err := a.reportImport(req.File.Name, res); err != nil {
		return err
	}
	if f.output == "" {
		_, err := a.Stdout.Write(res.Config)
		return printed(err)
	}
	if err := writeNew(anywhere{dir}.path(f.output), res.Config, f.force); err != nil {
		return command.Failed(fmt.Errorf("write %s: %w", f.output, err))
	}
	return nil
}

// importSource reads a file that the user names.
func (a App) importSource(dir, name string) (importer.Source, error) {
	if name == "-" {
		if a.Stdin == nil {
			return importer.Source{Name: "standard input"}, nil
		}
		data, err := readAll(a.Stdin, "standard input", strictyaml.MaxSize)
		return importer.Source{Name: "standard input", Data: data}, unreadable(err)
	}
	data, err := readFile(anywhere{dir}.path(name), strictyaml.MaxSize)
	if err != nil {
		return importer.Source{}, &usageError{err}
	}
	return importer.Source{Name: name, Data: data}, nil
}

// maxReported bounds the list on standard error; the file has more.
const maxReported = 200

// reportImport prints what could not be imported; nothing at all is a failure.
func (a App) reportImport(name string, res importer.Result) error {
	var b strings.Builder
	for i, p := range res.Unmapped {
		if i == maxReported {
			fmt.Fprintf(&b, "… and %d more\n", len(res.Unmapped)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n", sanitizeLines(p.Error()))
	}
	if res.Rules > 0 {
		fmt.Fprintf(&b, "%s: %s", sanitize.Log(name), count(res.Rules, "rule"))
		if n := len(res.Unmapped); n > 0 {
			fmt.Fprintf(&b, "; %s without a counterpart", count(n, "place"))
		}
		b.WriteByte('\n')
	}
	fmt.Fprint(a.Stderr, b.String())
	if res.Rules == 0 {
		return command.Failed(fmt.Errorf("%s: nothing in it could be imported", sanitize.Log(name)))
	}
	return nil
}

// writeNew writes a file that is there as a whole or not at all. Without force one that
// exists stays as it is.
func writeNew(name string, data []byte, force bool) error {
	temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // the umask decides, as for any file of a repository
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // after the rename there is none
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if !force {
		// A link fails where a rename would overwrite what came between.
		if err := os.Link(temp, name); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(temp, name)
}
