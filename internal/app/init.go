package app

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
)

// startWorkflow is the workflow of a repository that begins with Foreman.
//
//go:embed start/workflow.yml
var startWorkflow []byte

// startRules are its rules.
//
//go:embed start/foreman.yml
var startRules []byte

const workflowPath = ".github/workflows/foreman.yml"

const initHelp = `Writes a first workflow, .github/workflows/foreman.yml, and first rules,
.github/foreman.yml, and says what to do next. The rules decide and report, and write
nothing until they say mode: apply. A file that is there is left alone: without --force
nothing is written then.

Exit codes: 0 done, 1 a file could not be written, 2 a file is there already.`

func (a App) initCommand() *cobra.Command {
	var dir string
	var force bool
	c := &cobra.Command{
		Use:     "init",
		Short:   "Write a first workflow and a first rule file",
		Long:    initHelp,
		Example: "  foreman init\n  foreman init --dir ../other --force",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.start(dir, force)
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "root `DIR` of the repository")
	c.Flags().BoolVar(&force, "force", false, "replace files that are there")
	return c
}

// start writes the first files below dir.
func (a App) start(dir string, force bool) error {
	work, err := a.workDir()
	if err != nil {
		return err
	}
	root := anywhere{work}.path(dir)
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return usagef("--dir: there is no directory %s", dir)
	}
	files := []struct {
		name string
		data []byte
	}{{workflowPath, startWorkflow}, {config.DefaultPath, startRules}}
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(root, f.name)); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, f.name)
		}
	}
	if len(there) > 0 && !force {
		return usagef("%s: already there, so nothing is written; --force replaces what is there", strings.Join(there, " and "))
	}
	for _, f := range files {
		name := filepath.Join(root, f.name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = writeNew(name, f.data, force)
		}
		if err != nil {
			return command.Failed(fmt.Errorf("write %s: %w", f.name, err))
		}
	}
	_, err = fmt.Fprint(a.Stdout, nextSteps(root))
	return printed(err)
}

// nextSteps is what there is to do with the first files below root.
func nextSteps(root string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s and %s\n", workflowPath, config.DefaultPath)
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		b.WriteString("note: there is no .git beside .github, and GitHub reads both at the root of a repository only\n")
	}
	b.WriteString(`
Next:
  1. Make the rules yours, and try them:
       foreman rules check
       foreman rules test
       foreman triage --issue OWNER/REPO#N
  2. Commit both files, and push them to the default branch.
  3. Open an issue. The job summary of the workflow says what would be done, and why.
  4. When it is right, write "mode: apply" in .github/foreman.yml and "issues: write" in
     .github/workflows/foreman.yml.
`)
	return b.String()
}
