package contribflow

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/validate"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

func validateVerb() verb {
	var o validate.Options
	return verb{
		use:   "validate",
		short: "Check the patch with the commands of the repository, in a Docker sandbox",
		long: `Find the commands with which the repository checks a change: lint, types, tests and build.
Without --run and --sandbox docker the commands are only listed. With them each runs in a Docker
container of its own, on a copy of the workspace and without the network. Only a setup from a
lockfile may use the network. No code of the repository runs outside of the containers.`,
		writes:     true,
		configured: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.Run, "run", false, "run the commands; needs --sandbox docker")
			f.StringVar(&o.Sandbox, "sandbox", "", "where commands run: `docker`")
			f.StringVar(&o.Only, "only", "", "run only this `command`; a pull request needs a run of all of them")
			f.StringArrayVar(&o.Accept, "accept", nil, "confirm that a person reviewed this part of the patch: `lockfile`")
		},
		values: map[string][]string{"sandbox": {"docker"}, "accept": {"lockfile"}},
		check: func([]string) error {
			if err := o.Check(); err != nil {
				return command.Usage(err)
			}
			return nil
		},
		run: func(ctx context.Context, s session.Session, _ []string) (contract.Document, error) {
			return validate.Run(ctx, s, o)
		},
		show: shows(showValidation),
	}
}

// showValidation prints a line for each command, and the end of the output of those that
// failed.
func showValidation(w *screen, d contract.Validation) {
	w.status(d.Status, "%s", d.Reason)
	entries := make([]contract.CommandRun, 0, len(d.SetupCommands)+len(d.Commands))
	entries = append(append(entries, d.SetupCommands...), d.Commands...)
	width := 0
	for _, c := range entries {
		width = max(width, len(c.Command))
	}
	for i, c := range entries {
		kind := "check"
		if i < len(d.SetupCommands) {
			kind = "setup"
		}
		more := ""
		if c.DurationMS != nil {
			const rounding = 100 * time.Millisecond
			more = "  " + (time.Duration(*c.DurationMS) * time.Millisecond).Round(rounding).String()
		}
		if c.WorkingDirectory != "" {
			more += "  in " + sanitize.Line(c.WorkingDirectory)
		}
		w.status(c.Status, "%s  %s", kind, strings.TrimRight(c.Command+strings.Repeat(" ", width-len(c.Command))+more, " "))
	}
	for _, c := range entries {
		if c.Status == contract.Failed {
			w.heading("%s ended with exit code %s", c.Command, exitText(c.ExitCode))
			w.line("%s", c.Reason)
			for _, line := range lastLines(c) {
				w.line("  %s", line)
			}
		}
	}
	for _, warning := range d.Warnings {
		w.line("warning: %s", sanitize.Line(warning))
	}
	if d.LogPath != "" {
		w.line("log: %s", d.LogPath)
	}
}

func exitText(code *int) string {
	if code == nil {
		return "unknown"
	}
	return strconv.Itoa(*code)
}

// lastLines returns the end of a command's output: of its standard error unless that is empty.
func lastLines(c contract.CommandRun) []string {
	const most = 12
	for _, output := range []*string{c.Stderr, c.Stdout} {
		if output != nil && strings.TrimSpace(*output) != "" {
			lines := strings.Split(strings.TrimRight(*output, "\n"), "\n")
			return lines[max(0, len(lines)-most):]
		}
	}
	return nil
}
