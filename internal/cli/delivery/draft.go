package delivery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/triage"
)

// A Draft is an issue that is nowhere on GitHub: rules are tried on it. Its zero value is an
// open issue without title and text by a user outside of the organisation, as in the tests
// beside rules.
type Draft struct {
	Title, Body string
	Labels      []string
	Author      string // empty: octocat
	Association string // of the author, such as MEMBER; empty: NONE
}

// Associations are GitHub's names for an author's relation to a repository.
func Associations() []string {
	return []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE"}
}

// source returns the payload of an event on the issue; its name is issues.opened unless
// another is given.
func (d Draft) source(env process.Env, name string) (triage.EventSource, error) {
	event, action, _ := strings.Cut(cmp.Or(name, triage.EventIssues), ".")
	association := strings.ToUpper(cmp.Or(d.Association, "NONE"))
	switch {
	case event != triage.EventIssues && event != triage.EventSchedule:
		return triage.EventSource{}, command.Usagef("--event-name: an issue without a payload takes issues, issues.ACTIVITY or schedule, got %q", name)
	case !slices.Contains(Associations(), association):
		return triage.EventSource{}, command.Usagef("--association: want one of %s, got %q", strings.Join(Associations(), ", "), d.Association)
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
	repo := cmp.Or(env.Getenv("GITHUB_REPOSITORY"), "octo-org/hello")
	now := env.Now().UTC().Format(time.RFC3339)
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
