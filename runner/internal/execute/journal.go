package execute

import (
	"context"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// A Journal records the progress of each action of one task. A nil Journal records nothing. It must
// be used by one execution only.
type Journal struct {
	Journal memory.Journal
	Key     memory.LedgerKey
	Entries []memory.Entry // the entries when this attempt began
	Now     func() time.Time
	Warn    func(format string, args ...any)

	labels map[int]map[string]string // see [memory.Entry]; by the index of the action
	failed bool                      // an entry could not be stored, and there was a warning
}

// mark stores the progress of an action, as [entryState] defines it. Actions of an earlier attempt
// stay done. If an entry cannot be stored, there is one warning, and the run continues: a later
// attempt reads the markers on the issue and the issue itself.
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
		Index: r.Index, Hash: memory.HashAction(r.Action), Rule: r.Source.ID(), Pair: r.Pair, State: state, At: j.Now().UTC(),
	}
	if state != triage.Trying {
		e.Values, e.Reason, e.URL, e.Refused = r.Values, r.Reason, r.URL, r.RefusedByHost()
	}
	if state == triage.Trying || state == triage.Failed {
		e.Labels = j.labels[r.Index]
	}
	// A write is recorded even if the run was asked to stop.
	if err := j.Journal.Mark(context.WithoutCancel(ctx), j.Key, e); err != nil {
		j.failed = true
		j.Warn("journal: %v; a later attempt looks up which writes took effect", err)
	}
}

// Began reports whether an earlier attempt may have begun an action without recording its outcome.
// Without a journal this is so for every action.
func (j *Journal) Began(index int) bool { return j == nil || j.before(index) == triage.Trying }

// assume sets the ids of labels that the entry of an action stores; "": the label was looked up.
func (j *Journal) assume(index int, names, ids []string) {
	if j == nil || ids == nil {
		return
	}
	list := map[string]string{}
	for i, name := range names {
		if ids[i] != "" {
			list[text.Fold(name)] = ids[i]
		}
	}
	if j.labels == nil {
		j.labels = map[int]map[string]string{}
	}
	j.labels[index] = list
}

// former returns the id that an earlier attempt assumed for a label, if the issue has the label with
// another id now: the earlier attempt may have created it. Empty: it has not. on are the labels of the issue.
func (j *Journal) former(name string, on []triage.LabelID) string {
	now := labelID(on, name)
	if j == nil || now == "" {
		return ""
	}
	for _, e := range j.Entries {
		if id := e.Labels[text.Fold(name)]; id != "" && id != now {
			return id
		}
	}
	return ""
}

// Recreated reports whether an earlier attempt may have created one of the labels of an issue.
func (j *Journal) Recreated(names []string, on []triage.LabelID) bool {
	return slices.ContainsFunc(names, func(name string) bool { return j.former(name, on) != "" })
}

// before returns the state that an action had when this attempt began.
func (j *Journal) before(index int) triage.State {
	for _, e := range j.Entries {
		if e.Index == index {
			return e.State
		}
	}
	return ""
}

// entryState returns the state that the [memory.Entry] of an action stores. ok is false for an
// action that was only planned or never tried, or whose outcome is unknown; then its entry stays
// unchanged.
func entryState(s triage.State) (stored triage.State, ok bool) {
	switch s {
	case triage.Trying:
		return triage.Trying, true
	case triage.Done, triage.Noted, triage.Already:
		return triage.Done, true
	case triage.Skipped, triage.Refused, triage.Suggested:
		return triage.Skipped, true
	case triage.Failed:
		return triage.Failed, true
	case triage.Planned, triage.NotRun, triage.Unknown:
	}
	return "", false
}
