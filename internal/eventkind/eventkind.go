// Package eventkind lists the events that the program supports, with their activities. A new event
// is a row of kinds. If its payload has a new form, triage/parse.go reads it.
package eventkind

import "slices"

// A Subject is how an event refers to its issue.
type Subject int

// The subjects.
const (
	Unknown  Subject = iota // the event is not supported
	Issue                   // the payload contains an issue; foremand accepts these events
	Pull                    // the payload contains a pull request
	Dispatch                // a person requests a run, possibly for one issue
	Scan                    // the rules select the issues
)

// A Kind is an event that GitHub reports, or that starts a workflow run.
type Kind struct {
	Name    string
	Subject Subject
	// Activities are the known values of the payload's "action". Nil: the event has no action, or
	// any value is allowed.
	Activities []string
	// Routed are the activities for which foremand creates tasks, if the agent's configuration
	// lists no events.
	Routed []string
}

// pullActivities are the activities of events about pull requests.
var pullActivities = []string{
	"opened", "edited", "closed", "reopened", "synchronize", "converted_to_draft", "ready_for_review",
	"assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked", "milestoned", "demilestoned",
	"review_requested", "review_request_removed", "enqueued", "dequeued", "auto_merge_enabled", "auto_merge_disabled",
}

// kinds are the supported events. triage.ParseEvent, the names in rules, the webhook of
// foremand and the event_types of its configuration all depend on this list. The activities
// are those of GitHub's page "Events that trigger workflows".
var kinds = []Kind{
	{"issues", Issue, []string{
		"opened", "edited", "deleted", "transferred", "pinned", "unpinned", "closed", "reopened",
		"assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked",
		"milestoned", "demilestoned", "typed", "untyped", "field_added", "field_removed",
	}, []string{"opened", "edited", "reopened"}},
	{"issue_comment", Issue, []string{"created", "edited", "deleted"}, []string{"created"}},
	{"pull_request", Pull, pullActivities, nil},
	{"pull_request_target", Pull, pullActivities, nil},
	{"schedule", Scan, nil, nil},
	{"workflow_dispatch", Dispatch, nil, nil},
	{"repository_dispatch", Dispatch, nil, nil},
}

// Kinds returns the supported events. The caller must not change their activities.
func Kinds() []Kind { return slices.Clone(kinds) }

// SubjectOf returns the subject of a named event.
func SubjectOf(name string) Subject {
	for _, k := range kinds {
		if k.Name == name {
			return k.Subject
		}
	}
	return Unknown
}

// Names returns the names of the supported events. If subjects are given, it returns only
// events with one of them.
func Names(subjects ...Subject) []string {
	var names []string
	for _, k := range kinds {
		if len(subjects) == 0 || slices.Contains(subjects, k.Subject) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Keys returns the event's name with each of its activities, such as "issues.opened".
func (k Kind) Keys() []string {
	var keys []string
	for _, activity := range k.Activities {
		keys = append(keys, k.Name+"."+activity)
	}
	return keys
}
