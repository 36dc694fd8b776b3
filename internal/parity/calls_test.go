package parity_test

import (
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// A cause is why ours makes more calls than the original on an event.
type cause string

const (
	// failure: the original fails before its first call, on every event. Ours reads the rules.
	failure cause = "the original fails before its first call"
	// unknownCause is refused: where the original runs, ours never makes more calls.
	unknownCause cause = "any other reason"
)

// causes returns all causes of the table.
func causes() []cause { return []cause{failure, unknownCause} }

// A costlierEvent is an event on which ours makes more calls.
type costlierEvent struct {
	ID       string   `json:"id"`
	Cause    cause    `json:"cause"`
	Original int      `json:"original"`
	Ours     []string `json:"ours"`
}

// costlier returns the events on which ours makes more calls than the original, in order.
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

// causeOf returns the cause that alone explains all that is more.
func causeOf(original int, ours []githubtest.Call) cause {
	if original == 0 && len(ours) == 1 && ours[0].Method == "GET" {
		return failure
	}
	return unknownCause
}

// lines returns the calls without their common parts.
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
