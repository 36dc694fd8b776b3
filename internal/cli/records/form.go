package records

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Form is how a report is printed, and how far it goes back. [Form.Flags] sets it.
type Form struct {
	Format string // text, markdown, html or json
	Output string // file for the report; see [process.OutputFile]
	Since  string // as by [duration.Since]; empty: of any time
}

// Flags adds the flags of the form to a command.
func (f *Form) Flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.Format, "format", "text", "`FORMAT` of the report: text, markdown, html or json")
	group.Values(c, "format", "text", "markdown", "html", "json")
	fl.StringVarP(&f.Output, "output", "o", "", "`FILE` for the report (default: standard output)")
	fl.StringVar(&f.Since, "since", "", "only what has an outcome since this `TIME`, such as 1y, 6mo, 4w, 90d or 2026-01-31")
}

// formats are the ways to write a report.
func formats() map[string]func(trackrecord.Report) string {
	return map[string]func(trackrecord.Report) string{
		"text": trackrecord.Report.Text, "markdown": trackrecord.Report.Markdown, "html": trackrecord.Report.HTML,
		"json": func(r trackrecord.Report) string { return format.JSON(r, "  ") + "\n" },
	}
}

// Check returns a mistake in the form, or the time from which outcomes are reported; zero: of any time.
func (f *Form) Check(now time.Time) (since time.Time, err error) {
	if names := slices.Sorted(maps.Keys(formats())); !slices.Contains(names, f.Format) {
		return since, command.Usagef("--format: want %s, got %q%s", strings.Join(names, " or "), f.Format, yamlfile.DidYouMean(f.Format, names))
	}
	if f.Since == "" {
		return since, nil
	}
	since, ok := duration.Since(f.Since, now.UTC())
	if !ok {
		return since, command.Usagef("--since: want a time such as 1y, 6mo, 4w, 90d or 2026-01-31, got %q", f.Since)
	}
	return since, nil
}

// Write prints a report, or writes it to a file.
func (f *Form) Write(env process.Env, r trackrecord.Report) error {
	return files.Deliver(env, "report", process.OutputFile(f.Output), formats()[f.Format](r))
}
