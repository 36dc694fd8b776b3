package actions

import (
	"fmt"
	"strings"
	"sync"

	githubactions "github.com/sethvargo/go-githubactions"

	"github.com/org/foreman-action/internal/sanitize"
)

// Printf writes to the log. The text may hold anything, whole issues too: each of
// its lines is made safe, so that the runner finds no workflow command in it. A
// line break is added at the end unless there is one.
func (r *Runtime) Printf(format string, args ...any) {
	_, _ = r.out.Write([]byte(safeText(fmt.Sprintf(format, args...)) + "\n"))
}

// Debugf writes a line that the log shows when debug logging is on, safe like that
// of Printf. Outside Actions it is written when RUNNER_DEBUG is 1.
func (r *Runtime) Debugf(format string, args ...any) {
	text := safeText(fmt.Sprintf(format, args...))
	switch {
	case r.live:
		r.issue(&githubactions.Command{Name: "debug", Message: text})
	case r.debug:
		r.Printf("debug: %s", text)
	}
}

// Group starts a part of the log that is folded under the title, and returns the
// function that ends it, which may be called more than once. Groups do not nest.
// Outside Actions the title is a line.
func (r *Runtime) Group(title string) (end func()) {
	title = strings.ReplaceAll(safeText(title), "\n", " ")
	if !r.live {
		r.Printf("%s", title)
		return func() {}
	}
	r.issue(&githubactions.Command{Name: "group", Message: title})
	return sync.OnceFunc(func() { r.issue(&githubactions.Command{Name: "endgroup"}) })
}

// minSecret is the length in bytes from which a text is masked. Masking a shorter
// one would hide little and make the log unreadable.
const minSecret = 4

// Mask makes the runner replace a secret by *** in the log from now on, and each
// line of one that has several. Texts shorter than 4 bytes are not masked. Outside
// Actions it does nothing, since nobody would mask the line that holds the secret.
func (r *Runtime) Mask(secret string) {
	if !r.live {
		return
	}
	whole := strings.TrimSpace(secret)
	masked := map[string]bool{}
	for _, text := range append([]string{whole}, splitLines(whole)...) {
		text = strings.TrimSpace(text)
		if len(text) < minSecret || masked[text] {
			continue
		}
		masked[text] = true
		r.issue(&githubactions.Command{Name: "add-mask", Message: text})
	}
}

// safeText makes each line of a text safe and joins them with "\n". The last line
// break is dropped.
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
