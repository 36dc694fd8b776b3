package execute

import (
	"context"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// A Journal marks how far each action of one task got. A nil one keeps nothing. It is used by
// one execution.
type Journal struct {
	Journal memory.Journal
	Key     memory.LedgerKey
	Entries []memory.Entry // as they were when this attempt began
	Now     func() time.Time
	Warn    func(format string, args ...any)

	failed bool // an entry could not be stored, which was warned of
}

// mark stores how far an action got. What an earlier attempt did stays done. That it cannot be
// stored is warned of once, and stops nothing: a later attempt looks at the markers on the
// issue and at the issue itself.
func (j *Journal) mark(ctx context.Context, r triage.ActionResult, state memory.State) {
	if j == nil || j.failed {
		return
	}
	if was := j.before(r.Index); state == memory.StateSkipped && (was == memory.StateSkipped || was == memory.StateDone) {
		return
	}
	e := memory.Entry{
		Index: r.Index, Hash: memory.HashAction(r.Action), Rule: r.Source.ID(), State: state, At: j.Now().UTC(),
	}
	if state != memory.StateTrying {
		e.Values, e.Reason, e.URL = r.Values, r.Reason, r.URL
	}
	// What was done must be stored also when the run was asked to stop.
	if err := j.Journal.Mark(context.WithoutCancel(ctx), j.Key, e); err != nil {
		j.failed = true
		j.Warn("journal: %v; a later attempt will look the writes up", err)
	}
}

// before returns the state of an action when this attempt began.
func (j *Journal) before(index int) memory.State {
	for _, e := range j.Entries {
		if e.Index == index {
			return e.State
		}
	}
	return ""
}

// settle stores what became of an action.
func (j *Journal) settle(ctx context.Context, r triage.ActionResult) {
	switch r.State {
	case triage.Done, triage.Noted, triage.Already:
		j.mark(ctx, r, memory.StateDone)
	case triage.Failed:
		j.mark(ctx, r, memory.StateFailed)
	case triage.Skipped, triage.Refused:
		j.mark(ctx, r, memory.StateSkipped)
	case triage.Planned, triage.Trying, triage.NotRun:
	}
}
