package parity_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/importer"
)

// A cause is the reason why Foreman makes more API calls on an event than the original action.
type cause string

const (
	// failure: the original fails before its first call, on every event, while Foreman reads the
	// rules.
	failure cause = "the original fails before its first call"
	// differs: the results differ, and a listed difference explains why. For example, the original
	// fails after it has read its configuration, and Foreman adds a label.
	differs cause = "the results differ, as listed: for example, the original fails after reading its file"
	// people: the original adds a label again that a person removed. Foreman does not, and reads the
	// timeline to know.
	people cause = "ours reads the timeline, to add no label again that a person removed"
	// scanned: Foreman reads the issues that a scheduled run changes.
	scanned cause = "in a scheduled run ours reads an issue before it changes it"
	// inputs: the options of the original are in its workflow, which costs no call.
	inputs cause = "ours reads its file and whether the pull request changes it; the options of the original are in its workflow"
	// unknownCause makes the test fail.
	unknownCause cause = "any other reason"
)

// causes returns all causes for the columns of the table.
func causes() []cause { return []cause{failure, differs, people, scanned, inputs, unknownCause} }

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
			list = append(list, costlierEvent{e.ID, c.causeOf(e, n, ours), n, lines(c.repo(), ours)})
		}
	}
	return list
}

// causeOf returns the cause that explains all additional calls on an event.
func (c *parityCase) causeOf(e event, original int, ours []githubtest.Call) cause {
	timelines, issues, files := 0, 0, 0
	for _, call := range ours {
		switch path := strings.TrimPrefix(call.Path, "/repos/"+c.repo()+"/"); {
		case call.Method != "GET":
		case strings.HasSuffix(path, "/timeline"):
			timelines++
		case path == "contents/.github/foreman.yml", strings.HasSuffix(path, "/files"):
			files++
		case oneIssue.MatchString(path):
			issues++
		}
	}
	switch more := len(ours) - original; {
	case original == 0 && len(ours) == 1 && ours[0].Method == "GET":
		return failure
	case slices.ContainsFunc(c.known, func(d difference) bool { return d.concerns(e) }):
		return differs
	case e.On != "scan" && more <= timelines:
		return people
	case e.On == "scan" && more <= issues+timelines:
		return scanned
	case importer.InWorkflow(c.tool) && more <= files:
		return inputs
	}
	return unknownCause
}

// oneIssue matches the path of an issue or pull request.
var oneIssue = regexp.MustCompile(`^(issues|pulls)/[0-9]+$`)

// concerns reports whether the results differ after an event, or after a scheduled run for an issue
// of its repository.
func (d difference) concerns(e event) bool {
	return slices.ContainsFunc(d.Events, func(id string) bool {
		return id == e.ID || e.On == "scan" && strings.HasPrefix(id, fmt.Sprintf("%d#", e.World))
	})
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
