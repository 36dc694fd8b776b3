// Package runs is the commands about runs of the pipeline that do not run it: status,
// prompt, check, clean and doctor.
package runs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/build/task"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/sanitize"
)

// Status returns the command that lists runs.
func Status(env cli.Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "List the runs of this checkout",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := env.WorkDir()
			if err != nil {
				return command.Failed(err)
			}
			repo, err := workspace.Open(c.Context(), dir, env.Environ())
			if err != nil {
				return command.Usage(err)
			}
			all, err := build.List(repo.Root)
			if all == nil {
				all = []build.Status{} // [] in JSON
			}
			return errors.Join(task.Print(env, asJSON, all, table(all, env.Now())), command.Failed(err))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the runs as JSON")
	return c
}

func table(all []build.Status, now time.Time) string {
	if len(all) == 0 {
		return "no runs; foreman build run begins one\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tSTATE\tROUND\tPHASE\tAGE\tBRANCH")
	for _, s := range all {
		state := string(s.Status)
		switch {
		case s.Running:
			state = "running"
		case s.Status == "":
			state = "interrupted"
		case s.Reason != "":
			state += " (" + strings.ReplaceAll(string(s.Reason), "_", " ") + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", sanitize.Log(s.TaskID), state, s.Round, s.Phase, now.Sub(s.Started).Round(time.Second), sanitize.Log(s.Branch))
	}
	w.Flush()
	return b.String()
}

// Prompt returns the command that prints the prompt of an agent.
func Prompt(env cli.Env) *cobra.Command {
	var flags task.Flags
	c := &cobra.Command{
		Use:       "prompt --task-id ID builder|inspector",
		Short:     "Print the prompt that an agent would get now",
		ValidArgs: []string{string(handoff.Builder), string(handoff.Inspector)},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			if flags.Prompt != "" || flags.PromptFile != "" || flags.Issue != "" {
				if o.Prompt, _, err = flags.Text(c.Context(), env); err != nil {
					return err
				}
			}
			text, err := build.Prompt(c.Context(), o, handoff.Role(args[0]))
			if err != nil {
				return task.Classify(err)
			}
			return env.Print(text)
		},
	}
	flags.Register(c)
	flags.RegisterText(c)
	return c
}

// Clean returns the command that removes a run.
func Clean(env cli.Env) *cobra.Command {
	var flags task.Flags
	c := &cobra.Command{
		Use:   "clean --task-id ID",
		Short: "Remove a run with its branch, its repository and its clones",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			bytes, err := build.Clean(c.Context(), o)
			if err != nil {
				return task.Classify(err)
			}
			env.Log("removed %s, with %.1f MB in %s", o.TaskID, float64(bytes)/1e6, filepath.Join(o.State, o.TaskID))
			return nil
		},
	}
	flags.Register(c)
	return c
}

// Check returns the command that judges a result as the pipeline does.
func Check(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check builder|inspector",
		Short: "Judge a result in this folder as the pipeline would",
		Long: "Prints the judgement of builder_result.json or inspector_result.json as JSON. Exit codes:\n" +
			"0 the pipeline would go on, 4 the agent reports a failure, 5 there is no valid result.",
		ValidArgs: []string{string(handoff.Builder), string(handoff.Inspector)},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := env.WorkDir()
			if err != nil {
				return command.Failed(err)
			}
			judgement := build.Judge(handoff.Role(args[0]), dir)
			if err := task.Print(env, true, judgement, ""); err != nil {
				return err
			}
			return command.Reported(judgement.ExitCode())
		},
	}
}

// Doctor returns the command that checks whether a run could begin.
func Doctor(env cli.Env) *cobra.Command {
	var flags task.Flags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the requirements of a run: git, the base, the configuration, the agents",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			flags.TaskID = "doctor"
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			findings := build.Examine(c.Context(), o)
			bad := false
			for _, f := range findings {
				mark := "ok     "
				if !f.OK {
					mark, bad = "missing", true
				}
				if err := env.Print(sanitize.Log(mark+"  "+f.What+": "+f.Detail) + "\n"); err != nil {
					return err
				}
			}
			if bad {
				return command.Reported(command.ExitFailed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&flags.Base, "base", "", "branch or commit on which the run starts (default: origin's default branch, else HEAD)")
	c.Flags().StringVar(&flags.Worktrees, "worktrees", "", "folder for repositories and clones of runs (default: in the user's state folder)")
	return c
}
