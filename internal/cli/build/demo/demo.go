// Package demo is the command that shows the pipeline at work, without a model and without
// the network.
package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/build/pipeline"
	"github.com/org/foreman-action/internal/cli/build/task"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/command"
)

// repository is the demo's repository. Its Go files end in .txt here, so that they are not part
// of this module.
//
//go:embed all:repository
var repository embed.FS

const prompt = "The test of Sum fails: it returns 5 for 1, 2, 3. Mend it."

// Command returns the command.
func Command(env cli.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a run: two scripted agents mend a small Go repository",
		Long: "Makes a repository with a failing test in a temporary folder and runs the pipeline on it.\n" +
			"The Builder first weakens the test until it passes, the Inspector objects, and the Builder\n" +
			"then mends the code. The agents are recorded; git, the checks and all else are real. It\n" +
			"needs git and go.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), env, dir) },
	}
	c.Flags().StringVar(&dir, "dir", "", "folder for the demo; it must be empty (default: a temporary one, which is kept)")
	return c
}

func run(ctx context.Context, env cli.Env, dir string) error {
	for _, program := range []string{"git", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			return command.Failed(fmt.Errorf("the demo needs the program %s: install it", program))
		}
	}
	dir, err := folder(env, dir)
	if err != nil {
		return err
	}
	checkout := filepath.Join(dir, "repository")
	if err := write(checkout); err != nil {
		return command.Failed(fmt.Errorf("make the demo's repository: %w", err))
	}
	repo := git.Repo{Dir: checkout, Environ: env.Environ(), Vars: []string{
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.org", "GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.org",
	}}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"}, {"commit", "--quiet", "--message", "Sum, with a failing test"}} {
		if _, err := repo.Run(ctx, args...); err != nil {
			return command.Failed(fmt.Errorf("make the demo's repository: %w", err))
		}
	}
	inside := env
	inside.Dir = checkout
	flags := task.Flags{TaskID: "demo", Worktrees: filepath.Join(dir, "state")}
	o, err := flags.Options(ctx, inside)
	if err != nil {
		return err
	}
	o.Prompt, o.Source = prompt, "the demo"
	env.Log("task: %s", prompt)
	if err := pipeline.Show(ctx, inside, false, o, build.Run); err != nil {
		return err
	}
	diff, err := repo.Run(ctx, "diff", "--no-color", "--no-ext-diff", "main...foreman/demo")
	if err != nil {
		return command.Failed(err)
	}
	return env.Print(fmt.Sprintf("\n%s\nThe repository is in %s, the work on its branch foreman/demo.\n"+
		"Prompts, logs and results of every run are in %s.\n", diff, checkout, filepath.Join(checkout, ".foreman/runs/demo/attempts")))
}

func folder(env cli.Env, dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "foreman-demo-")
		return made, command.Failed(err)
	}
	dir = env.Path(dir)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", command.Usagef("the folder %s is not empty", dir)
	}
	return dir, command.Failed(os.MkdirAll(dir, 0o750))
}

// write copies the embedded repository.
func write(to string) error {
	files, err := fs.Sub(repository, "repository")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(name, ".txt")))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o750)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644) //nolint:gosec // a repository's file
	})
}
