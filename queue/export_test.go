package queue

import (
	"time"
)

// NewMutant returns a queue with a fault: at the beginning of each call, fault changes every task.
func NewMutant(now func() time.Time, fault func(*task)) Queue {
	q := &InMemory{watchers: watchers{}}
	q.now = func() time.Time { // each call reads the time first, while the queue is locked
		for _, t := range q.tasks {
			fault(t)
		}
		return now()
	}
	return q
}

// Faults returns functions that break a task. The conformance tests must detect each of them.
func Faults() map[string]func(*task) {
	const agent = "http://a:9001/"
	return map[string]func(*task){
		"no priority":                   func(t *task) { t.Priority = 0 },
		"no hold":                       func(t *task) { t.Ready = time.Time{} },
		"no hourly limit":               func(t *task) { t.slot = time.Time{} },
		"hourly limit, late":            func(t *task) { t.slot = t.slot.Add(time.Hour) },
		"done tasks do not count":       func(t *task) { t.slot = unless(t.State == Done, t.slot) },
		"no dedup keys":                 func(t *task) { t.dedup = nil },
		"only the first dedup key":      func(t *task) { t.dedup = t.dedup[:1] },
		"nothing coalesces":             func(t *task) { t.coalesces = false },
		"everything coalesces":          func(t *task) { t.coalesces = true },
		"not behind others":             func(t *task) { t.Behind = "" },
		"none is followed":              func(t *task) { t.followed = false },
		"all are followed":              func(t *task) { t.followed = true },
		"none waited":                   func(t *task) { t.waited = false },
		"all waited":                    func(t *task) { t.waited = true },
		"no attempts":                   func(t *task) { t.Attempt = min(t.Attempt, 1) },
		"attempts count from the retry": func(t *task) { t.Attempt = t.claims },
		"no claimant":                   func(t *task) { t.claimedBy = "" },
		"no owner":                      func(t *task) { t.Owner = "" },
		"claims never run out":          func(t *task) { t.Until = unless(t.State == Claimed, t.Until) },
		"leases never run out":          func(t *task) { t.Until = unless(t.Draining, t.Until) },
		"no leases":                     func(t *task) { t.Draining = false },
		"no epochs":                     func(t *task) { t.Epoch = min(t.Epoch, 1) },
		"no tries":                      func(t *task) { t.Tries = 0 },
		"claims are not counted":        func(t *task) { t.claims = 0 },
		"claims count after a retry":    func(t *task) { t.claims = t.Attempt },
		"no result":                     func(t *task) { t.result = nil },
		"no decision":                   func(t *task) { t.decided = false },
		"no report":                     func(t *task) { t.report = nil },
		"no log":                        func(t *task) { t.log = nil },
		"no end of the log":             func(t *task) { t.log = t.log[:min(len(t.log), MaxLogs-1)] },
		"no origin":                     func(t *task) { t.origin = nil },
		"no reason":                     func(t *task) { t.Reason = "" },
		"no end":                        func(t *task) { t.Ended = time.Time{} },
		"an early end":                  func(t *task) { t.Ended = unless(!t.Ended.IsZero(), t.Ended).Add(-time.Hour) },
		"no time of completion":         func(t *task) { t.Completed = time.Time{} },
		"no time of the claim":          func(t *task) { t.Claimed = time.Time{} },
		"no sequence":                   func(t *task) { t.Seq = 1 },
		"no issue":                      func(t *task) { t.Issue = 0 },
		"one issue":                     func(t *task) { t.Issue = 1 },
		"one agent":                     func(t *task) { t.Agent = agent },
		"failed is done":                func(t *task) { t.State = swap(t.State, Failed, Done) },
		"done is completed":             func(t *task) { t.State = swap(t.State, Done, Completed) },
		"asks are not counted":          func(t *task) { t.Asks = 0 },
		"answers to any question":       func(t *task) { t.askedAttempt = -1 },
		"no answer to a question":       func(t *task) { t.askedAttempt = 1 << 20 },
		"leases of all decisions":       func(t *task) { t.askedEpoch = 0 },
		"claimed is pending":            func(t *task) { t.State = swap(t.State, Claimed, Pending) },
	}
}

// unless returns the zero time if so is true, else at.
func unless(so bool, at time.Time) time.Time {
	if so {
		return time.Time{}
	}
	return at
}

// swap returns to if s is from, else s.
func swap(s, from, to State) State {
	if s == from {
		return to
	}
	return s
}
