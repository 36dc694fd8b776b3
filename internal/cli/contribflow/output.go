package contribflow

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// fail prints an error, as a document or for people, and returns the exit code.
func fail(env process.Env, asJSON bool, err error) error {
	problem, ok := errors.AsType[*contract.Problem](err)
	code := contract.CodeInternal
	if _, usage := errors.AsType[*command.UsageError](err); usage {
		code = contract.CodeUsage
	}
	next := contract.Instruct(contract.ActionFixError, "Correct the mistake in the message and run the command again.")
	if ok {
		code = problem.Code
		if problem.Next.Command != "" {
			next = problem.Next
		}
	}
	exit := command.ExitFailed
	if code == contract.CodeUsage {
		exit = command.ExitUsage
		if next.Action == contract.ActionFixError {
			next = contract.Run(contract.ActionFixError, "contribflow --help")
		}
	}
	message := secret.RedactForms(err.Error())
	if !asJSON {
		fmt.Fprintf(env.Stderr, "contribflow: %s\n", sanitize.Log(message))
		return command.Reported(exit)
	}
	data, encodeErr := contract.Encode(contract.Error{
		Status: contract.Errored, Error: contract.ErrorDetail{Code: code, Message: message}, Next: next, Reason: message,
	})
	if encodeErr != nil {
		return command.Failed(encodeErr)
	}
	if err := env.Print(string(data)); err != nil {
		return err
	}
	return command.Reported(exit)
}

// shows adapts a function that prints documents of one type to any document. For a lookup that is
// blocked it prints only the issue and the reason.
func shows[T any](show func(*screen, T)) func(*screen, contract.Document) {
	return func(w *screen, document contract.Document) {
		if d, ok := any(document).(T); ok {
			show(w, d)
		} else if d, ok := document.(contract.BlockedLookup); ok {
			w.line("%s", d.Issue)
			showThrottle(w, d.Blocked, d.Reason)
		}
	}
}

// showThrottle prints why GitHub does not answer.
func showThrottle(w *screen, t contract.Throttle, reason string) {
	w.status(contract.Blocked, "%s", t.Message)
	w.line("%s", reason)
	if t.RetryAfterSeconds != nil {
		w.line("GitHub answers again in %d seconds.", *t.RetryAfterSeconds)
	}
	w.line("%s", t.RetryGuidance)
}

func showWarnings(w *screen, list []string) {
	for _, warning := range list {
		w.line("warning: %s", warning)
	}
}

// A screen collects the output of a command for people, and shows its progress.
type screen struct {
	env     process.Env
	painter format.Painter
	show    bool // progress is shown
	b       strings.Builder
	drawn   time.Time
	open    bool // a line of progress is on the terminal
}

func newScreen(env process.Env, f flags) *screen {
	return &screen{
		env: env, painter: format.Painter{On: env.Coloured() && !f.noColour},
		show: env.Terminal && !f.quiet && !f.json,
	}
}

// progress draws a bar on a terminal, at most ten times a second.
func (w *screen) progress(p session.Progress) {
	const pause, width = 100 * time.Millisecond, 24
	now := w.env.Now()
	if !w.show || now.Sub(w.drawn) < pause && p.Done < p.Total {
		return
	}
	w.drawn, w.open = now, true
	line := p.What
	if p.Total > 0 {
		full := min(width, p.Done*width/p.Total)
		line = fmt.Sprintf("[%s%s] %d/%d %s", strings.Repeat("█", full), strings.Repeat("░", width-full), p.Done, p.Total, p.What)
	}
	const most = 100
	fmt.Fprintf(w.env.Stderr, "\r\x1b[K%s", text.Shorten(text.Plain(line, most), most))
}

// clear removes the bar.
func (w *screen) clear() {
	if w.open {
		fmt.Fprint(w.env.Stderr, "\r\x1b[K")
		w.open = false
	}
}

// line adds a line, made harmless for terminals.
func (w *screen) line(format string, args ...any) {
	w.b.WriteString(sanitize.Log(fmt.Sprintf(format, args...)) + "\n")
}

// heading adds a line in bold.
func (w *screen) heading(format string, args ...any) {
	w.b.WriteString(w.painter.Bold(sanitize.Log(fmt.Sprintf(format, args...))) + "\n")
}

// status adds a line that begins with a coloured word for an outcome.
func (w *screen) status(status, format string, args ...any) {
	colour := map[string]string{
		contract.Passed: "32", contract.OK: "32", contract.Created: "32", contract.DryRun: "32",
		contract.Failed: "31", contract.Errored: "31", contract.Blocked: "33", contract.Skipped: "33", contract.Missing: "33",
	}[status]
	shown := status
	if colour != "" {
		shown = w.painter.Paint(colour, status)
	}
	w.b.WriteString(shown + "  " + sanitize.Log(fmt.Sprintf(format, args...)) + "\n")
}

// table adds rows in columns. The first row is their heads.
func (w *screen) table(rows ...[]string) {
	if len(rows) < 2 {
		return
	}
	var b strings.Builder
	const gap = 2
	columns := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			const most = 80
			cells[i] = text.Shorten(text.Plain(cell, most+1), most)
		}
		fmt.Fprintln(columns, strings.Join(cells, "\t"))
	}
	columns.Flush()
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		if i == 0 {
			line = w.painter.Faint(line)
		}
		w.b.WriteString(line + "\n")
	}
}

// next adds the recommended command as the last line.
func (w *screen) next(next contract.Next) {
	if next.Command != "" {
		w.b.WriteString("Next: " + w.painter.Bold(sanitize.Line(strings.TrimSuffix(next.Command, " --json"))) + "\n")
	}
}

func (w *screen) text() string { return w.b.String() }
