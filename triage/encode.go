package triage

import (
	"encoding/json"
	"fmt"
	"time"
)

// encoded returns the JSON of the snapshot: Raw, or the fields in GitHub's form if Raw is empty, as for
// an issue of another service. An error means that a time cannot be written as RFC 3339.
func (s Snapshot) encoded() (json.RawMessage, error) {
	if len(s.Raw) > 0 {
		return s.Raw, nil
	}
	i := s.Issue
	w := wireIssue{
		NodeID: i.NodeID, Number: i.Number, Title: i.Title, State: i.State, StateReason: present(i.StateReason), Association: i.Association,
		Labels: []wireLabel{}, Assignees: []wireUser{}, Comments: i.Comments, Locked: i.Locked, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
		HTMLURL: i.URL, Draft: i.Draft, Reactions: i.Reactions,
	}
	if !i.NullBody {
		w.Body = &i.Body
	}
	if i.Author != "" {
		w.User = &wireUser{ID: i.AuthorID, Login: i.Author, Type: i.AuthorType}
	}
	if !i.ClosedAt.IsZero() {
		w.ClosedAt = &i.ClosedAt
	}
	ids := map[string]string{}
	for _, id := range i.LabelIDs {
		ids[id.Name] = id.ID
	}
	for _, name := range i.Labels {
		w.Labels = append(w.Labels, wireLabel{Name: name, NodeID: ids[name]})
	}
	for _, login := range i.Assignees {
		w.Assignees = append(w.Assignees, wireUser{Login: login})
	}
	if i.Milestone != "" {
		w.Milestone = &wireTitle{i.Milestone}
	}
	if i.Type != "" {
		w.Type = &wireName{i.Type}
	}
	if i.PullRequest {
		w.PullRequest = json.RawMessage(`{}`)
	}
	if i.PullRequest && i.Merged {
		w.PullRequest = json.RawMessage(fmt.Sprintf(`{"merged_at":%q}`, i.ClosedAt.UTC().Format(time.RFC3339)))
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode issue %d: %w", i.Number, err)
	}
	return raw, nil
}

// present returns nil for "".
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// encode returns the payload of an event that has none, in the form of GitHub's, with the known fields
// only. The fields of a pull request are left out.
func (d Delivery) encode(issue Snapshot) (map[string]json.RawMessage, error) {
	raw, err := issue.encoded()
	if err != nil {
		return nil, err
	}
	type account struct {
		Login string `json:"login"`
		Type  string `json:"type,omitempty"`
	}
	repo := map[string]string{"full_name": d.FullRepo()}
	if d.Branch != "" {
		repo["default_branch"] = d.Branch
	}
	values := map[string]any{
		"action":     d.Action,
		"repository": repo,
		"sender":     account{d.Sender.Login, d.Sender.Type},
		"issue":      raw,
	}
	for key, value := range map[string]string{"label": d.Label, "milestone": d.Milestone, "assignee": d.Assignee} {
		if value == "" {
			continue
		}
		field := map[string]string{"label": "name", "milestone": "title", "assignee": "login"}[key]
		values[key] = map[string]string{field: value}
	}
	if c := d.Comment; c != (Comment{}) {
		comment := map[string]any{
			"id": c.ID, "body": c.Body, "user": account{c.Author, c.AuthorType}, "author_association": c.Association, "html_url": c.URL,
			"updated_at": d.At,
		}
		if !c.CreatedAt.IsZero() {
			comment["created_at"] = c.CreatedAt
		}
		values["comment"] = comment
	}
	payload := make(map[string]json.RawMessage, len(values))
	for key, value := range values {
		if payload[key], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("make an event for issue %d: %s: %w", d.Number, key, err)
		}
	}
	return payload, nil
}
