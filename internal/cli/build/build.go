// Package build holds the commands of the pipeline of Builder and Inspector.
package build

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/build/demo"
	"github.com/org/foreman-action/internal/cli/build/pipeline"
	"github.com/org/foreman-action/internal/cli/build/publish"
	"github.com/org/foreman-action/internal/cli/build/runs"
	"github.com/org/foreman-action/internal/cli/group"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/command"
)

// Command returns the command build with those below it.
func Command(env cli.Env) *cobra.Command {
	c := group.Complete(&cobra.Command{
		Use:   "build",
		Short: "Let a Builder change code and an Inspector judge it",
		Long: "Runs two coding agents in rounds, in clones of this repository, until the Inspector\n" +
			"approves the change or the run ends for another reason. " + "The configuration is\n.foreman/build.yml, read from the base commit; docs/build.md describes it.\n\n" + exitCodes,
	}, env)
	c.AddCommand(demo.Command(env), pipeline.Run(env), pipeline.Review(env), pipeline.Resume(env), publish.Command(env),
		runs.Status(env), runs.Prompt(env), runs.Check(env), runs.Clean(env), runs.Doctor(env), supervise(env))
	return c
}

const exitCodes = `Exit codes of a run: 0 approved, 1 a failure of this machine, the setup or the disk,
2 usage and configuration, 3 rounds exhausted or stalled, 4 an agent failed, 5 no valid
result, 6 nothing changed, 7 an agent changed protected files, 8 a required check fails,
124 out of time, 130 cancelled. Of publish: 0 published, 7 refused, 9 failed.`

// supervise returns the hidden command that runs other commands; see package process.
func supervise(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "supervise", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return command.Reported(process.Supervise(env.Stderr, args))
		},
	}
}
