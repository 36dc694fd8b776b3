package backtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
)

// A progress shows how many issues are replayed: in place on a terminal, else with a line from time
// to time.
type progress struct {
	env   process.Env
	shown time.Time // when the bar was last drawn
	lines int       // thousands of issues for which a line was printed
}

const (
	progressEvery = 100 * time.Millisecond
	progressWidth = 30
)

func (p *progress) show(at backtest.Progress) {
	if !p.env.Terminal {
		if n := at.Replayed / 1000; n > p.lines {
			p.lines = n
			p.env.Log("%d of about %d issues, %s read", at.Replayed, at.About, format.Count(at.Timelines, "timeline"))
		}
		return
	}
	now := p.env.Now()
	if now.Sub(p.shown) < progressEvery {
		return
	}
	p.shown = now
	done := 0
	if at.About > 0 {
		done = min(progressWidth, progressWidth*at.Replayed/at.About)
	}
	fmt.Fprintf(p.env.Stderr, "\r[%s%s] %d of about %d issues, %s\x1b[K", strings.Repeat("#", done), strings.Repeat(".", progressWidth-done),
		at.Replayed, at.About, format.Count(at.Timelines, "timeline"))
}

// end removes the bar.
func (p *progress) end() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.env.Stderr, "\r\x1b[K")
	}
}
