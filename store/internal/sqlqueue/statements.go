package sqlqueue

import (
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// verbs are the statements of all verbs of the queue.
type verbs struct {
	enqueue   enqueuing
	claim     claiming
	heartbeat heartbeating
	complete  completing
	drain     draining
	lease     leasing
	requeue   requeuing
	retry     retrying
	purge     purging
	count     counting
	read      reading
	delayed   delayed
	lanes     lanes
}

func newVerbs(d sqlstore.Dialect) verbs {
	return verbs{
		enqueue: newEnqueuing(d), claim: newClaiming(d), heartbeat: newHeartbeating(d), complete: newCompleting(d), drain: newDraining(d),
		lease: newLeasing(d), requeue: newRequeuing(d), retry: newRetrying(d), purge: newPurging(d), count: newCounting(), read: newReading(d),
		delayed: newDelayed(d), lanes: newLanes(d),
	}
}

// Statements returns every statement of this package by its name, for tests of the query
// plans.
func Statements(d sqlstore.Dialect) map[string]string {
	out := sqlstore.Named(newVerbs(d))
	where, _ := conditions(queue.Filter{})
	out["list"] = out["info"] + "WHERE " + strings.Join(where, " AND ") + " ORDER BY seq DESC LIMIT 100"
	out["info"] += "WHERE seq = $2"
	return out
}
