// Package start is the command that writes the first files of a repository.
package start

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
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/wiring"
	"github.com/org/foreman-action/internal/command"
)

// startWorkflow is the workflow of a repository that begins with Foreman.
//
//go:embed workflow.yml
var startWorkflow []byte

// startRules are its rules.
//
//go:embed foreman.yml
var startRules []byte

const workflowPath = ".github/workflows/foreman.yml"

const help = `Writes a first workflow, .github/workflows/foreman.yml, and first rules,
.github/foreman.yml, and prints the next steps. The rules decide and report, and write
nothing until they have mode: apply. If a file exists, nothing is written without --force.

With --agents it writes other files: those that opencode, Claude Code or Codex need to work
as Builder and Inspector, in .foreman and in a folder for each agent. Existing files stay.

Exit codes: 0 done, 1 a file could not be written, 2 a file is there already.`

// Options are all that the command depends on.
type Options struct {
	Env   process.Env
	Dir   string // root of the repository
	Force bool   // replace existing files
	// Agents are the coding agents to write files for, instead of the first files.
	Agents []string
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:     "init",
		Short:   "Write a first workflow and a first rule file",
		Long:    help,
		Example: "  foreman init\n  foreman init --dir ../other --force\n  foreman init --agents opencode,claude",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("agents") {
				return RunAgents(o)
			}
			return Run(o)
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", ".", "root `DIR` of the repository")
	c.Flags().BoolVar(&o.Force, "force", false, "replace existing files")
	c.Flags().StringSliceVar(&o.Agents, "agents", nil, "write the files of coding agents instead: `NAMES` of "+strings.Join(wiring.Names(), ", "))
	return c
}

// Run writes the first files below the root, and prints the next steps.
func Run(o Options) error {
	root, err := o.root()
	if err != nil {
		return err
	}
	first := []struct {
		name string
		data []byte
	}{{workflowPath, startWorkflow}, {config.DefaultPath, startRules}}
	var there []string
	for _, f := range first {
		if _, err := os.Lstat(filepath.Join(root, f.name)); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, f.name)
		}
	}
	if len(there) > 0 && !o.Force {
		return command.Usagef("%s: already there, so nothing is written; --force replaces existing files", strings.Join(there, " and "))
	}
	for _, f := range first {
		name := filepath.Join(root, f.name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = files.Create(name, f.data, o.Force)
		}
		if err != nil {
			return command.Failed(fmt.Errorf("write %s: %w", f.name, err))
		}
	}
	return o.Env.Print(nextSteps(root))
}

// root returns the root of the repository.
func (o Options) root() (string, error) {
	work, err := o.Env.WorkDir()
	if err != nil {
		return "", err
	}
	root := process.Below(work, o.Dir)
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", command.Usagef("--dir: there is no directory %s", o.Dir)
	}
	return root, nil
}

// nextSteps lists the next steps with the first files below root.
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
       foreman triage --title "It crashes" --body "panic at boot"
  2. Commit both files, and push them to the default branch.
  3. Open an issue. The job summary of the workflow shows the decision and the reason.
  4. When it is right, write "mode: apply" in .github/foreman.yml and "issues: write" in
     .github/workflows/foreman.yml.
`)
	return b.String()
}
