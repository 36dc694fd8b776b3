package triage

import "strings"

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

// eventKey returns "name.action", or the name alone without an action.
func eventKey(name, action string) string { return strings.TrimSuffix(name+"."+action, ".") }
