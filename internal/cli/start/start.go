// Package start is the command that writes the first files of a repository.
package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/starter"
	"github.com/org/foreman-action/internal/cli/wiring"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/importer/joined"
	"github.com/org/foreman-action/internal/workdir"
	"github.com/org/foreman-action/internal/yamlfile"
)

const help = `Reads the repository, and writes rules that fit it, .github/foreman.yml, and a workflow that
runs them, .github/workflows/foreman.yml. It prints the next steps. The rules have mode: shadow:
they decide and report, and write nothing on GitHub until they have mode: apply.

The rules are made of

  - the configurations of actions/labeler, github/issue-labeler, dessant/label-actions,
    actions/stale and peakoss/anti-slop, found by the workflows in .github/workflows; settings
    without a counterpart are listed on standard error and in comments of the file
  - the dropdowns of the issue forms whose options have labels of the same name
  - the labels whose purpose their names show, such as bug, kind/question or "needs info"

The labels are those of --labels; else those of the repository on GitHub (GITHUB_TOKEN, and
--repository, GITHUB_REPOSITORY or the remote origin of git); else those of .github/labels.yml;
else those that the issue forms add. Without any label one rule that needs none is written.

Rules that comment are written only with --comments, or if one of the tools above comments.

A file that exists stays as it is. If .github/foreman.yml exists, or a file that is read has
mistakes, nothing is written. A workflow that runs Foreman already is kept.

With --recipe the rules are those of recipes instead, with their tests: see docs/recipes, or the
list of --recipe list. The labels of the repository are not read; the next steps name the labels
that the rules use. A test whose result another of the recipes changes is left out, and named on
standard error.

With --agents it writes other files: those that opencode, Claude Code or Codex need to work
as Builder and Inspector, in .foreman and in a folder for each agent. Existing files stay.

Exit codes: 0 done, 1 a file could not be written, 2 a file exists or has mistakes.`

// Options are all that the command depends on.
type Options struct {
	Env        process.Env
	Dir        string // root of the repository
	Labels     string // FILE, "-" or names; empty: not given
	Repository string // OWNER/NAME on GitHub; empty: from the environment or git
	Comments   bool   // also write a rule that comments
	// Recipes are the names of the recipes to write, instead of rules that fit the repository.
	Recipes []string
	// Agents are the coding agents to write files for, instead of the first files.
	Agents []string
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write rules that fit this repository, and a workflow",
		Long:  help,
		Example: "  foreman init\n  foreman init --labels bug,question,needs-info\n" +
			"  gh label list --limit 1000 --json name | foreman init --labels -\n  foreman init --recipe first-issue,no-answer\n  foreman init --agents opencode,claude",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			run, kind := func() error { return Run(c.Context(), o) }, ""
			switch {
			case c.Flags().Changed("agents"):
				run, kind = func() error { return RunAgents(o) }, "agents"
			case c.Flags().Changed("recipe"):
				run, kind = func() error { return RunRecipes(c.Context(), o) }, "recipe"
			}
			for _, name := range []string{"labels", "repository", "comments", "recipe"} {
				if kind != "" && name != kind && c.Flags().Changed(name) {
					return command.Usagef("--%s cannot be used with --%s", name, kind)
				}
			}
			return run()
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", ".", "root `DIR` of the repository")
	c.Flags().StringVar(&o.Labels, "labels", "", "labels of the repository: a `FILE` with a list of them, - for standard input, or names with commas")
	c.Flags().StringVar(&o.Repository, "repository", "", "`OWNER/NAME` on GitHub, for its labels")
	c.Flags().BoolVar(&o.Comments, "comments", false, "also write a rule that comments")
	c.Flags().StringSliceVar(&o.Recipes, "recipe", nil, "write the rules of recipes instead: `NAMES` with commas; list prints them")
	group.ValuesOf(c, "recipe", recipeNames)
	c.Flags().StringSliceVar(&o.Agents, "agents", nil, "write the files of coding agents instead: `NAMES` of "+strings.Join(wiring.Names(), ", "))
	group.Values(c, "agents", wiring.Names()...)
	return c
}

// maxFolder bounds how many files of a folder are read.
const maxFolder = 100

// Run writes the first files below the root, and prints the next steps.
func Run(ctx context.Context, o Options) error {
	root, err := o.root()
	if err != nil {
		return err
	}
	if err := vacant(root); err != nil {
		return err
	}
	labels, err := o.labels(ctx, root)
	problems, mistakes := errors.AsType[yamlfile.Problems](err)
	if err != nil && !mistakes {
		return err
	}
	repo, more, err := starter.Read(ctx, files.Folder{Dir: root}, starter.Limit{Folder: maxFolder, Labels: labels.names != nil})
	if err != nil {
		return command.Failed(err)
	}
	if repo.Notes = append(repo.Notes, labels.notes...); labels.names != nil {
		repo.Labels = labels.names
	}
	p, err := starter.Propose(ctx, repo, starter.Options{
		Comments: o.Comments, Action: o.Env.Repository, Enterprise: o.enterprise(ctx, root), Import: joined.Import,
	})
	problems = append(problems, more...)
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
		problems = append(problems, ps...)
	} else if err != nil {
		return command.Failed(err)
	}
	if len(problems) > 0 {
		yamlfile.Sort(problems)
		return command.Usage(fmt.Errorf("%w\nnothing is written; correct these files, or move them away", problems))
	}
	list, err := writeFirst(root, repo, p)
	if err != nil {
		return err
	}
	fmt.Fprint(o.Env.Stderr, reportOf(repo, p))
	return o.Env.Print(o.nextSteps(root, repo, p, list))
}

// vacant returns an error if the root has a configuration.
func vacant(root string) error {
	rules := existing(root, config.DefaultPath, config.OtherPath)
	if len(rules) == 0 {
		return nil
	}
	there := append(slices.Clone(rules), existing(root, starter.WorkflowPath)...)
	return command.Usagef("%s: already there, so nothing is written; to get new rules, move %s away", strings.Join(there, " and "), strings.Join(rules, " and "))
}

// writeFirst writes the first files, and returns them. A workflow that exists stays.
func writeFirst(root string, repo starter.Repository, p starter.Proposal) ([]file, error) {
	list := []file{{config.DefaultPath, p.Rules}}
	if len(repo.Runs) == 0 && !exists(root, starter.WorkflowPath) {
		list = append(list, file{starter.WorkflowPath, p.Workflow})
	}
	if err := write(root, list); err != nil {
		return nil, command.Failed(err)
	}
	return list, nil
}

// A file is a file to write.
type file struct {
	name string
	data []byte
}

// write writes the files below the root, all or none. A link that leads out of the root is an
// error: a repository's .github can be one.
func write(root string, list []file) error {
	dir := workdir.Dir(root)
	for i, f := range list {
		err := dir.Create(f.name, f.data)
		if err == nil {
			continue
		}
		err = fmt.Errorf("write %s: %w", f.name, err)
		if errors.Is(err, workdir.ErrEscape) {
			err = fmt.Errorf("%w; replace the symbolic link in its path by a folder", err)
		}
		for _, done := range list[:i] {
			err = errors.Join(err, dir.Remove(done.name))
		}
		return err
	}
	return nil
}

func exists(root, name string) bool {
	_, err := os.Lstat(filepath.Join(root, name))
	return err == nil
}

// existing returns the files that exist.
func existing(root string, names ...string) []string {
	var there []string
	for _, name := range names {
		if exists(root, name) {
			there = append(there, name)
		}
	}
	return there
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
