package runner

import (
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// Rebuild is what a first meeting makes of a timeline: our tasks, and what people did.
func Rebuild(t triage.Timeline, bot string, issue triage.Issue) (memory.Record, []memory.Change) {
	h := hindsight{Timeline: t, bot: bot, issue: issue}
	return h.rebuild(func(trace) bool { return false }), h.changes()
}
