// Package pipeline is the commands that run the pipeline: run, review and resume.
package pipeline

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/build/task"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/command"
)

// Run returns the command run.
func Run(env cli.Env) *cobra.Command {
	var flags task.Flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "run --task-id ID (--prompt TEXT | --prompt-file FILE | --issue OWNER/REPO#N)",
		Short: "Run Builder and Inspector on a task",
		Example: "  foreman build run --task-id sum-1 --prompt 'Sum returns 0 for negative numbers; mend it'\n" +
			"  foreman build run --task-id issue-7 --issue octo/hello#7 --event \"$GITHUB_EVENT_PATH\"",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			if o.Prompt, o.Source, err = flags.Text(c.Context(), env); err != nil {
				return err
			}
			return Show(c.Context(), env, asJSON, o, build.Run)
		},
	}
	flags.Register(c)
	flags.RegisterText(c)
	flags.RegisterBundle(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// Review returns the command review.
func Review(env cli.Env) *cobra.Command {
	var flags task.Flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "review --task-id ID",
		Short: "Run the checks and the Inspector alone, on the branch of a task",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			if flags.Prompt != "" || flags.PromptFile != "" || flags.Issue != "" {
				if o.Prompt, o.Source, err = flags.Text(c.Context(), env); err != nil {
					return err
				}
			}
			return Show(c.Context(), env, asJSON, o, build.Review)
		},
	}
	flags.Register(c)
	flags.RegisterText(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// Resume returns the command resume.
func Resume(env cli.Env) *cobra.Command {
	var flags task.Flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "resume --task-id ID",
		Short: "Resume a run that was interrupted, or that failed for a temporary reason",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := flags.Options(c.Context(), env)
			if err != nil {
				return err
			}
			return Show(c.Context(), env, asJSON, o, build.Resume)
		},
	}
	flags.Register(c)
	flags.RegisterBundle(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// Show runs the pipeline, shows its progress on standard error, and prints the report.
func Show(ctx context.Context, env cli.Env, asJSON bool, o build.Options, run func(context.Context, build.Options) (build.Report, error)) error {
	p := newProgress(env)
	o.Progress = p.show
	report, err := run(ctx, o)
	p.end()
	if _, mistake := errors.AsType[*build.UsageError](err); mistake || report.Version == 0 {
		return task.Classify(err)
	}
	if broken := errors.Join(task.Print(env, asJSON, report, human(report)), task.Summarize(env, Markdown(report))); broken != nil {
		return broken
	}
	if err != nil {
		return command.Failed(err)
	}
	return command.Reported(report.ExitCode())
}
