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
	// removals: we remove several labels with one call each. The original writes the whole list of
	// labels, and so reverts changes that others made since it read the list.
	removals cause = "several labels are taken off"
	// searches: ours searches for each kind of issues, and reads only what it finds. The
	// original lists all that are open.
	searches cause = "several searches in place of a list"
	// unknownCause is refused.
	unknownCause cause = "not known"
)

// causes returns all causes that are allowed.
func causes() []cause { return []cause{failure, removals, searches} }

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
	var deletes, searched, reads int
	for _, call := range ours {
		switch {
		case call.Method == "DELETE" && strings.Contains(call.Path, "/labels/"):
			deletes++
		case call.Method == "GET" && strings.HasPrefix(call.Path, "/search/"):
			searched++
		case call.Method == "GET":
			reads++
		}
	}
	switch {
	case original == 0 && len(ours) == 1 && reads == 1:
		return failure
	case len(ours)-original <= deletes-1:
		return removals
	case len(ours)-original <= searched-1:
		return searches
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
