package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/backtest"
)

// A progress shows how far a replay is: in place on a terminal, else as a line now and
// then.
type progress struct {
	app   App
	shown time.Time // when it was shown in place
	lines int       // thousands of issues that a line was written for
}

func newProgress(a App) *progress { return &progress{app: a} }

const (
	progressEvery = 100 * time.Millisecond
	progressWidth = 30
)

func (p *progress) show(at backtest.Progress) {
	if !p.app.Terminal {
		if n := at.Replayed / 1000; n > p.lines {
			p.lines = n
			p.app.logToStderr("%d of about %d issues, %s read", at.Replayed, at.About, count(at.Timelines, "timeline"))
		}
		return
	}
	now := p.app.Now()
	if now.Sub(p.shown) < progressEvery {
		return
	}
	p.shown = now
	done := 0
	if at.About > 0 {
		done = min(progressWidth, progressWidth*at.Replayed/at.About)
	}
	fmt.Fprintf(p.app.Stderr, "\r[%s%s] %d of about %d issues, %s\x1b[K", strings.Repeat("#", done), strings.Repeat(".", progressWidth-done),
		at.Replayed, at.About, count(at.Timelines, "timeline"))
}

// end takes the bar away.
func (p *progress) end() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.app.Stderr, "\r\x1b[K")
	}
}
