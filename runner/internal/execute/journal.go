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

// mark stores how far an action got, as [entryState] has it. Actions of an earlier attempt stay
// done. A failure to store it is warned of once and stops nothing: a later attempt looks at the
// markers on the issue and at the issue itself.
func (j *Journal) mark(ctx context.Context, r triage.ActionResult) {
	if j == nil || j.failed {
		return
	}
	state, ok := entryState(r.State)
	if !ok {
		return
	}
	if was := j.before(r.Index); state == triage.Skipped && (was == triage.Skipped || was == triage.Done) {
		return
	}
	e := memory.Entry{
		Index: r.Index, Hash: memory.HashAction(r.Action), Rule: r.Source.ID(), State: state, At: j.Now().UTC(),
	}
	if state != triage.Trying {
		e.Values, e.Reason, e.URL = r.Values, r.Reason, r.URL
	}
	// A write is recorded also when the run was asked to stop.
	if err := j.Journal.Mark(context.WithoutCancel(ctx), j.Key, e); err != nil {
		j.failed = true
		j.Warn("journal: %v; a later attempt will look the writes up", err)
	}
}

// before returns the state of an action when this attempt began.
func (j *Journal) before(index int) triage.State {
	for _, e := range j.Entries {
		if e.Index == index {
			return e.State
		}
	}
	return ""
}

// entryState maps the state of an action to the one that its [memory.Entry] stores. ok is false
// for an action that was planned only or never tried: its entry stays as it is.
func entryState(s triage.State) (stored triage.State, ok bool) {
	switch s {
	case triage.Trying:
		return triage.Trying, true
	case triage.Done, triage.Noted, triage.Already:
		return triage.Done, true
	case triage.Skipped, triage.Refused:
		return triage.Skipped, true
	case triage.Failed:
		return triage.Failed, true
	case triage.Planned, triage.NotRun:
	}
	return "", false
}
