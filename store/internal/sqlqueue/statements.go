package sqlqueue

import (
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// verbs are the statements of all verbs of the queue.
type verbs struct {
	enqueue  enqueuing
	claim    claiming
	held     held
	complete completing
	drain    draining
	finish   finishing
	sweep    sweeps
	hand     byHand
	purge    purging
	count    counting
	read     reading
	due      due
	lanes    lanes
}

func newVerbs(d sqlstore.Dialect) verbs {
	return verbs{
		enqueue: newEnqueuing(d), claim: newClaiming(d), held: newHeld(d), complete: newCompleting(d), drain: newDraining(d),
		finish: newFinishing(d), sweep: newSweeps(d), hand: newByHand(d), purge: newPurging(d), count: newCounting(), read: newReading(d),
		due: newDue(d), lanes: newLanes(d),
	}
}

// Statements returns every statement of this package by its name, for tests that look at how
// a database carries them out.
func Statements(d sqlstore.Dialect) map[string]string {
	out := sqlstore.Named(newVerbs(d))
	where, _ := conditions(queue.Filter{})
	out["list"] = out["info"] + "WHERE " + strings.Join(where, " AND ") + " ORDER BY seq DESC LIMIT 100"
	out["info"] += "WHERE seq = $2"
	return out
}
