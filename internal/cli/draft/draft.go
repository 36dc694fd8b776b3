// Package draft makes events for issues that do not exist on GitHub, from a short description.
// People type the description to try rules.
package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/triage"
)

// An Issue describes an issue that does not exist on GitHub, to try rules on it. The zero value is
// an open issue without a title or text, by a user outside the organisation. Tests beside rules
// have the same defaults.
type Issue struct {
	Title, Body string
	Labels      []string
	Author      string // empty: octocat
	Association string // of the author, such as MEMBER; empty: NONE
}

// An Error is a mistake in one field of a description.
type Error struct {
	Field string // the name of the field: event-name or association
	Msg   string
}

// Error returns the name of the field and the mistake.
func (e *Error) Error() string { return e.Field + ": " + e.Msg }

// Associations are GitHub's names for an author's relation to a repository.
func Associations() []string {
	return []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE"}
}

// An Event describes the event that happens to an [Issue].
type Event struct {
	Name string // such as issues.edited; empty: issues.opened
	Repo string // "owner/name"; empty: octo-org/hello
	Now  time.Time
}

// Source returns the payload of an event on the issue. Mistakes are an [*Error].
func (d Issue) Source(e Event) (triage.EventSource, error) {
	event, action, _ := strings.Cut(cmp.Or(e.Name, triage.EventIssues), ".")
	association := strings.ToUpper(cmp.Or(d.Association, "NONE"))
	switch {
	case event != triage.EventIssues && event != triage.EventSchedule:
		return triage.EventSource{}, &Error{fieldName, fmt.Sprintf("an issue without a payload takes issues, issues.ACTIVITY or schedule, got %q", e.Name)}
	case !slices.Contains(Associations(), association):
		return triage.EventSource{}, &Error{"association", fmt.Sprintf("want one of %s, got %q", strings.Join(Associations(), ", "), d.Association)}
	case event == triage.EventIssues && action == "":
		action = "opened"
	}
	type named struct {
		Name string `json:"name"`
	}
	labels := []named{}
	for _, label := range d.Labels {
		labels = append(labels, named{label})
	}
	user := map[string]string{"login": cmp.Or(d.Author, "octocat"), "type": "User"}
	if strings.HasSuffix(user["login"], "[bot]") {
		user["type"] = "Bot"
	}
	repo := cmp.Or(e.Repo, "octo-org/hello")
	now := e.Now.UTC().Format(time.RFC3339)
	payload := map[string]any{
		"action": action, "sender": user, "repository": map[string]string{"full_name": repo},
		"issue": map[string]any{
			"number": 1, "title": d.Title, "body": d.Body, "state": "open", "user": user, "author_association": association,
			"labels": labels, "created_at": now, "updated_at": now, "html_url": fmt.Sprintf("https://github.com/%s/issues/1", repo),
		},
	}
	if len(labels) > 0 && (action == "labeled" || action == "unlabeled") {
		payload["label"] = labels[len(labels)-1]
	}
	raw, err := json.Marshal(payload)
	return triage.EventSource{Name: event, File: "the issue", Repo: repo, Payload: raw}, err
}
