package pipeline

import (
	"fmt"
	"strings"
	"time"

	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
)

// A progress shows the current step: one line that is rewritten on a terminal, else a line for
// each step.
type progress struct {
	env     cli.Env
	started time.Time
	drawn   time.Time
	open    bool // the terminal's line has no line break yet
	step    string
}

// redraw is the minimum time between two updates of a terminal's line.
const redraw = 100 * time.Millisecond

// maxOutcome is the maximum length of a step's outcome.
const maxOutcome = 500

func newProgress(env cli.Env) *progress { return &progress{env: env, started: env.Now()} }

func (p *progress) show(now build.Progress) {
	step := title(now)
	if now.Outcome != "" {
		p.end()
		p.env.Log("  %s", text.Shorten(now.Outcome, maxOutcome))
		p.step = ""
	}
	if now.Action == "" {
		return
	}
	if !p.env.Terminal {
		if now.Line == "" && step != p.step {
			p.env.Log("%s", step)
		}
		p.step = step
		return
	}
	at := p.env.Now()
	if step == p.step && at.Sub(p.drawn) < redraw {
		return
	}
	if step != p.step && p.open {
		fmt.Fprintln(p.env.Stderr)
	}
	p.step, p.drawn, p.open = step, at, true
	line := fmt.Sprintf("%s · %s", step, at.Sub(p.started).Round(time.Second))
	if now.Line != "" {
		line += " · " + now.Line
	}
	const width = 100
	fmt.Fprintf(p.env.Stderr, "\r\x1b[K%s", text.Shorten(strings.ReplaceAll(sanitize.Log(line), "\n", " "), width))
}

// end ends the line of a terminal.
func (p *progress) end() {
	if p.open {
		fmt.Fprintln(p.env.Stderr)
		p.open = false
	}
}

func title(now build.Progress) string {
	step := map[machine.Action]string{
		machine.DoSetup: "setup", machine.DoBuild: "Builder", machine.DoChecks: "checks", machine.DoDiff: "diff", machine.DoInspect: "Inspector",
	}[now.Action]
	line := fmt.Sprintf("round %d · %s", now.Round, step)
	if now.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", now.Attempt)
	}
	if now.Command != "" && (now.Action == machine.DoSetup || now.Action == machine.DoChecks) {
		line += ": " + now.Command
	}
	return line
}
