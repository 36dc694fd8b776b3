package triage

import (
	"slices"
	"strings"
)

// The events that carry or name an issue or a pull request.
const (
	EventIssues             = "issues"
	EventIssueComment       = "issue_comment"
	EventPullRequest        = "pull_request"
	EventPullRequestTarget  = "pull_request_target" // rules call it pull_request
	EventWorkflowDispatch   = "workflow_dispatch"
	EventRepositoryDispatch = "repository_dispatch"
	EventSchedule           = "schedule" // contains no issue: the rules select the issues
)

// A Subject is how an event refers to its issue.
type Subject int

// The subjects.
const (
	SubjectUnknown  Subject = iota // the event is not supported
	SubjectIssue                   // the payload contains an issue; foremand accepts these events
	SubjectPull                    // the payload contains a pull request
	SubjectDispatch                // a person requests a run, possibly for one issue
	SubjectScan                    // the rules select the issues
)

// An EventKind is an event that GitHub reports, or that starts a workflow run.
type EventKind struct {
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

// eventKinds are the supported events. [ParseEvent], the names in rules, the webhook of
// foremand and the event_types of its configuration all depend on this list. The activities
// are those of GitHub's page "Events that trigger workflows".
var eventKinds = []EventKind{
	{EventIssues, SubjectIssue, []string{
		"opened", "edited", "deleted", "transferred", "pinned", "unpinned", "closed", "reopened",
		"assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked",
		"milestoned", "demilestoned", "typed", "untyped", "field_added", "field_removed",
	}, []string{"opened", "edited", "reopened"}},
	{EventIssueComment, SubjectIssue, []string{"created", "edited", "deleted"}, []string{"created"}},
	{EventPullRequest, SubjectPull, pullActivities, nil},
	{EventPullRequestTarget, SubjectPull, pullActivities, nil},
	{EventSchedule, SubjectScan, nil, nil},
	{EventWorkflowDispatch, SubjectDispatch, nil, nil},
	{EventRepositoryDispatch, SubjectDispatch, nil, nil},
}

// EventKinds returns the supported events. The caller must not change their activities.
func EventKinds() []EventKind { return slices.Clone(eventKinds) }

// SubjectOf returns the subject of a named event.
func SubjectOf(name string) Subject {
	for _, k := range eventKinds {
		if k.Name == name {
			return k.Subject
		}
	}
	return SubjectUnknown
}

// EventNames returns the names of the supported events. If subjects are given, it returns only
// events with one of them.
func EventNames(subjects ...Subject) []string {
	var names []string
	for _, k := range eventKinds {
		if len(subjects) == 0 || slices.Contains(subjects, k.Subject) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Keys returns the event's name with each of its activities, such as "issues.opened".
func (k EventKind) Keys() []string {
	var keys []string
	for _, activity := range k.Activities {
		keys = append(keys, eventKey(k.Name, activity))
	}
	return keys
}

// eventKey returns "name.action", or the name alone without an action.
func eventKey(name, action string) string { return strings.TrimSuffix(name+"."+action, ".") }
