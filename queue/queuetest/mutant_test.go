package queuetest

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestMutants spoils the queue in memory, at the beginning of each call: a queue that
// forgets something, or gets it wrong, does not pass the suite.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, c := range cases() {
		if fails(t, c, func(*task) {}) {
			t.Fatalf("%s: fails on what is not spoilt", c.name)
		}
	}
	for name, spoil := range map[string]func(*task){
		"no priority":              func(t *task) { t.Info.Priority = 0 },
		"no hold":                  func(t *task) { t.Ready = time.Time{} },
		"no hourly limit":          func(t *task) { t.slot = time.Time{} },
		"hourly limit, late":       func(t *task) { t.slot = t.slot.Add(time.Hour) },
		"ended tasks are no cost":  func(t *task) { t.slot = unless(t.State == queue.Done, t.slot) },
		"no dedup keys":            func(t *task) { t.keys = nil },
		"only the first dedup key": func(t *task) { t.keys = t.keys[:1] },
		"nothing coalesces":        func(t *task) { t.coalesces = false },
		"everything coalesces":     func(t *task) { t.coalesces = true },
		"waits for none":           func(t *task) { t.Behind = "" },
		"nobody is waited for":     func(t *task) { t.followed = false },
		"everybody is waited for":  func(t *task) { t.followed = true },
		"none waited":              func(t *task) { t.waited = false },
		"all waited":               func(t *task) { t.waited = true },
		"no attempts":              func(t *task) { t.Attempt = min(t.Attempt, 1) },
		"attempts start anew":      func(t *task) { t.Attempt = t.claims },
		"no claimant":              func(t *task) { t.claimedBy = "" },
		"the first claim's owner":  func(t *task) { t.Owner = "" },
		"claims never run out":     func(t *task) { t.Until = unless(t.State == queue.Claimed, t.Until) },
		"leases never run out":     func(t *task) { t.Until = unless(t.Draining, t.Until) },
		"leases hold nothing":      func(t *task) { t.Draining = false },
		"no epochs":                func(t *task) { t.epoch = min(t.epoch, 1) },
		"no tries":                 func(t *task) { t.Tries = 0 },
		"claims are not counted":   func(t *task) { t.claims = 0 },
		"claims count for ever":    func(t *task) { t.claims = t.Attempt },
		"no result":                func(t *task) { t.result = nil },
		"no decision":              func(t *task) { t.decided = false },
		"no report":                func(t *task) { t.report = nil },
		"no log":                   func(t *task) { t.log = nil },
		"no end of the log":        func(t *task) { t.log = t.log[:min(len(t.log), queue.MaxLogs-1)] },
		"no origin":                func(t *task) { t.Origin = nil },
		"no reason":                func(t *task) { t.Reason = "" },
		"no end":                   func(t *task) { t.Ended = time.Time{} },
		"an early end":             func(t *task) { t.Ended = unless(!t.Ended.IsZero(), t.Ended).Add(-time.Hour) },
		"no time of completion":    func(t *task) { t.Completed = time.Time{} },
		"no time of the claim":     func(t *task) { t.Claimed = time.Time{} },
		"no sequence":              func(t *task) { t.Seq = 1 },
		"no issue":                 func(t *task) { t.Info.Issue = 0 },
		"one issue":                func(t *task) { t.Info.Issue = 1 },
		"one agent":                func(t *task) { t.Info.Agent = agent },
		"failed is done":           func(t *task) { t.State = swap(t.State, queue.Failed, queue.Done) },
		"done is completed":        func(t *task) { t.State = swap(t.State, queue.Done, queue.Completed) },
		"claimed is pending":       func(t *task) { t.State = swap(t.State, queue.Claimed, queue.Pending) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases() {
				if fails(t, c, spoil) {
					return
				}
			}
			t.Error("it passes the whole suite")
		})
	}
}

// unless is the zero time if something is so, and at otherwise.
func unless(so bool, at time.Time) time.Time {
	if so {
		return time.Time{}
	}
	return at
}

// swap is s, or to if it is from.
func swap(s, from, to queue.State) queue.State {
	if s == from {
		return to
	}
	return s
}

// fails runs a case on a spoilt queue, and reports whether it fails.
func fails(t *testing.T, c testCase, spoil func(*task)) bool {
	clock := NewClock()
	var q *Queue
	q = New(Options{Now: func() time.Time { // it is asked first, while the queue is locked
		for _, t := range q.tasks {
			spoil(t)
		}
		return clock.Now()
	}})
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.test(&rig{TB: p, a: q, b: q, clock: clock})
	}()
	<-done
	return p.failed
}

// A probe is a test that may fail without harm.
type probe struct {
	testing.TB

	mu     sync.Mutex
	failed bool
}

func (p *probe) Helper() {}

func (p *probe) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

func (p *probe) Error(...any)          { p.fail() }
func (p *probe) Errorf(string, ...any) { p.fail() }

func (p *probe) Fatal(...any) {
	p.fail()
	runtime.Goexit()
}

func (p *probe) Fatalf(string, ...any) {
	p.fail()
	runtime.Goexit()
}
