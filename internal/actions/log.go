package actions

import (
	"fmt"
	"io"
	"strings"
	"sync"

	githubactions "github.com/sethvargo/go-githubactions"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/secret"
)

// A Log is the log of the step, which the runner reads for workflow commands. Texts
// may hold anything: no text can forge a command. It is safe for concurrent use.
type Log struct {
	live  bool // inside Actions: workflow commands are understood
	debug bool // RUNNER_DEBUG

	mu        sync.Mutex // guards the fields below
	w         io.Writer
	annotated map[Level]int // annotations issued
}

func newLog(w io.Writer, env Env) *Log {
	return &Log{w: w, live: env.Actions, debug: env.Debug, annotated: map[Level]int{}}
}

// write writes whole lines, one caller at a time. Errors are dropped.
func (l *Log) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, text)
}

// issue writes a workflow command.
func (l *Log) issue(c githubactions.Command) { l.write(c.String() + githubactions.EOF) }

// Printf writes to the log. The text may contain anything, even a whole issue: each of its lines is
// escaped so that the runner finds no workflow command in it. A line break is added at the end
// unless there is one.
func (l *Log) Printf(format string, args ...any) {
	l.write(safeText(fmt.Sprintf(format, args...)) + "\n")
}

// Debugf writes a line that the log shows only when debug logging is on. It escapes the line as
// Printf does. Outside Actions the line is written only if RUNNER_DEBUG is 1.
func (l *Log) Debugf(format string, args ...any) {
	text := safeText(fmt.Sprintf(format, args...))
	switch {
	case l.live:
		l.issue(githubactions.Command{Name: "debug", Message: text})
	case l.debug:
		l.Printf("debug: %s", text)
	}
}

// Group starts a part of the log that is folded under the title. It returns the function that ends
// this part; that function may be called more than once. Groups do not nest. Outside Actions the
// title is a plain line.
func (l *Log) Group(title string) (end func()) {
	title = strings.ReplaceAll(safeText(title), "\n", " ")
	if !l.live {
		l.Printf("%s", title)
		return func() {}
	}
	l.issue(githubactions.Command{Name: "group", Message: title})
	return sync.OnceFunc(func() { l.issue(githubactions.Command{Name: "endgroup"}) })
}

// Mask makes the runner replace a secret by *** in the log from now on. Each line of a secret with
// several lines is masked on its own. Texts shorter than secret.MinLength are not masked. Outside
// Actions Mask does nothing, because the command itself would print the secret.
func (l *Log) Mask(text string) {
	if !l.live {
		return
	}
	whole := strings.TrimSpace(text)
	masked := map[string]bool{}
	for _, part := range append([]string{whole}, splitLines(whole)...) {
		part = strings.TrimSpace(part)
		if len(part) < secret.MinLength || masked[part] {
			continue
		}
		masked[part] = true
		l.issue(githubactions.Command{Name: "add-mask", Message: part})
	}
}

// safeText escapes each line of a text and joins the lines with "\n". It drops the last line break.
func safeText(text string) string {
	lines := splitLines(strings.TrimRight(text, "\r\n"))
	for i, line := range lines {
		lines[i] = sanitize.Log(line)
	}
	return strings.Join(lines, "\n")
}

// splitLines splits where the runner does: at CR LF, LF, and a CR alone.
func splitLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}
