package sqlqueue

import (
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// verbs are the statements of all operations of the queue.
type verbs struct {
	enqueue   *enqueuing
	claim     *claiming
	heartbeat heartbeating
	complete  *completing
	drain     *draining
	lease     *leasing
	requeue   requeuing
	holdings  holdings
	retry     retrying
	purge     purging
	count     counting
	read      reading
	delayed   delayed
	lanes     lanes
	pause     pausing
}

func newVerbs(d sqlstore.Dialect) verbs {
	return verbs{
		enqueue: newEnqueuing(d), claim: newClaiming(d), heartbeat: newHeartbeating(d), complete: newCompleting(d), drain: newDraining(d),
		lease: newLeasing(d), requeue: newRequeuing(d), holdings: newHoldings(d), retry: newRetrying(d), purge: newPurging(d), count: newCounting(d), read: newReading(d),
		delayed: newDelayed(d), lanes: newLanes(d), pause: newPausing(d),
	}
}

// forms are the two forms of a statement that takes a list of calls: the first skips locked tasks,
// the second waits for them.
type forms [2]string

func newForms(d sqlstore.Dialect, query string) forms {
	return forms{d.Expand(query), d.Expand(strings.ReplaceAll(query, "{skip}", d.Lock+" OF t"))}
}

// of returns the form that waits for locked tasks, or the one that skips them.
func (f *forms) of(waits bool) string {
	if waits {
		return f[1]
	}
	return f[0]
}

// Statements returns all statements of this package by name, for tests of the query plans.
func Statements(d sqlstore.Dialect) map[string]string {
	v := newVerbs(d)
	out := sqlstore.Named(v)
	for name, f := range map[string]queue.Filter{
		"list": {}, "listRepo": {Repo: "o/r"}, "listIssue": {Repo: "o/r", Issue: 1}, "listRepoFailed": {Repo: "o/r", State: queue.Failed},
		"listRepoPending": {Repo: "o/r", State: queue.Pending}, "listAgent": {Agent: "a"}, "listFailed": {State: queue.Failed},
		"listCompleted": {State: queue.Completed},
	} {
		out[name], _ = v.read.page(f, 0)
	}
	for name, f := range map[string]queue.Filter{
		"search": {Title: "a b", Reason: "c", ID: "d"}, "searchFailed": {State: queue.Failed, Title: "a"}, "searchRepo": {Repo: "o/r", Title: "a"},
	} {
		out[name], _ = v.read.page(f, 1)
		out[name+"Window"], _ = windowOf(f)
		out[name+"Count"], _ = matching(f, 1)
	}
	out["searchID"], _ = v.read.byID(queue.Filter{ID: "a"})
	out["info"] += "WHERE seq = $2"
	return out
}
