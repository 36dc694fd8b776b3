package parity_test

import (
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// A cause is the reason why Foreman makes more API calls on an event than the original action.
type cause string

const (
	// failure: the original fails before its first call, on every event, while Foreman reads the
	// rules.
	failure cause = "the original fails before its first call"
	// unknownCause makes the test fail: where the original runs, Foreman must never make more
	// calls.
	unknownCause cause = "any other reason"
)

// causes returns all causes for the columns of the table.
func causes() []cause { return []cause{failure, unknownCause} }

// A costlierEvent is an event on which Foreman makes more calls than the original.
type costlierEvent struct {
	ID       string   `json:"id"`
	Cause    cause    `json:"cause"`
	Original int      `json:"original"`
	Ours     []string `json:"ours"`
}

// costlier returns the events on which Foreman makes more calls than the original, in order.
func costlier(c *parityCase, calls map[string][]githubtest.Call) []costlierEvent {
	var list []costlierEvent
	for _, e := range c.events {
		n, heard := c.calls[e.ID]
		if ours := calls[e.ID]; heard && len(ours) > n {
			list = append(list, costlierEvent{e.ID, causeOf(n, ours), n, lines(c.repo(), ours)})
		}
	}
	return list
}

// causeOf returns the cause that explains all additional calls.
func causeOf(original int, ours []githubtest.Call) cause {
	if original == 0 && len(ours) == 1 && ours[0].Method == "GET" {
		return failure
	}
	return unknownCause
}

// lines returns the calls as text, without the common start of their paths.
func lines(repo string, calls []githubtest.Call) []string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Method+" "+strings.TrimPrefix(c.Path, "/repos/"+repo+"/"))
	}
	return list
}

func counts(calls map[string][]githubtest.Call) map[string]int {
	n := map[string]int{}
	for id, list := range calls {
		n[id] = len(list)
	}
	return n
}

func causesOf(list []costlierEvent) map[cause]int {
	n := map[cause]int{}
	for _, e := range list {
		n[e.Cause]++
	}
	return n
}
