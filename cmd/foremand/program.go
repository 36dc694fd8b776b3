package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A program is one run of foremand.
type program struct {
	args     []string // without the program's name
	lookup   func(string) (string, bool)
	stdout   io.Writer
	stderr   io.Writer
	terminal bool // stderr is one
}

// buildVersion is set by the linker of a release.
var buildVersion string

func version() string { return command.Version(buildVersion) }

const longHelp = `Foremand takes events from GitHub, keeps them as tasks in a durable queue, lets agents
claim and decide them over HTTP, and carries their decisions out on GitHub. No agent ever
holds the GitHub token.

docs/server.md tells how it is set up.`

// main runs the command that the arguments name and returns the exit code.
func (p program) main(ctx context.Context) int {
	root := &cobra.Command{
		Use:           "foremand",
		Short:         "The harness as a service: a durable queue between GitHub and agents",
		Long:          longHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(p.stderr)
			_ = cmd.Help() // it is written, or nobody reads
			return errors.New("a command is missing")
		},
	}
	root.SetArgs(p.args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.serveCommand(), p.queueCommand(), p.configCommand(), p.backupCommand())
	err := root.ExecuteContext(ctx)
	if err != nil {
		p.complain(err)
	}
	return command.ExitCode(err)
}

// complain writes an error for people. Mistakes in a configuration stand by themselves.
func (p program) complain(err error) {
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
		fmt.Fprintf(p.stderr, "%s\n", ps)
		return
	}
	fmt.Fprintf(p.stderr, "Error: %s\n", sanitize.Line(err.Error()))
}

// home returns the user's directory; empty when there is none.
func (p program) home() string {
	h, _ := p.lookup("HOME")
	return h
}

// inHome returns the path of a file in the program's own folder.
func (p program) inHome(name string) string { return filepath.Join(p.home(), ".foreman", name) }

// logger returns the log: words on a terminal, JSON elsewhere.
func (p program) logger(verbose bool) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindDuration { // JSON would have it in nanoseconds
			a.Value = slog.StringValue(a.Value.Duration().Round(time.Millisecond).String())
		}
		return a
	}}
	if verbose {
		o.Level = slog.LevelDebug
	}
	if p.terminal {
		return slog.New(slog.NewTextHandler(p.stderr, o))
	}
	return slog.New(slog.NewJSONHandler(p.stderr, o))
}
