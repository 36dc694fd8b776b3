// Package render renders the state of the fake GitHub as GitHub's JSON, with every field that
// GitHub's description requires.
package render

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

const (
	// APIURL is the API's root in the url fields of responses. It is constant, so that responses do
	// not depend on the server's port.
	APIURL = "https://api.github.com"
	// WebURL is the root of the addresses of web pages.
	WebURL = "https://github.com"
)

// An Object is a JSON object.
type Object = map[string]any

// Stamp returns a time in the format that GitHub uses.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// orNull returns nil, the JSON null, for an empty string.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// NodeID returns the id of an object in the GraphQL API.
func NodeID(kind string, id int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%d", kind, id))
}

// KindOf returns the type name of an issue or a pull request in the GraphQL API.
func KindOf(i *state.Record) string {
	if i.PullRequest {
		return "PullRequest"
	}
	return "Issue"
}

// API returns the API's address of an object in the repository.
func API(r *state.Repository, format string, args ...any) string {
	return fmt.Sprintf("%s/repos/%s/%s", APIURL, r.Owner, r.Name) + fmt.Sprintf(format, args...)
}

// Web returns the address of a web page of the repository.
func Web(r *state.Repository, format string, args ...any) string {
	return fmt.Sprintf("%s/%s/%s", WebURL, r.Owner, r.Name) + fmt.Sprintf(format, args...)
}

// UserID returns the id of an account. Logins that differ only in case have the same id.
func UserID(login string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // never fails
	return int64(h.Sum32())
}

// User renders an account.
func User(login string) Object {
	id := UserID(login)
	u := APIURL + "/users/" + url.PathEscape(login)
	kind, page := "User", WebURL+"/"+url.PathEscape(login)
	if name, bot := strings.CutSuffix(login, "[bot]"); bot {
		kind, page = "Bot", WebURL+"/apps/"+url.PathEscape(name)
	}
	return Object{
		"login": login, "id": id, "node_id": NodeID("User", id), "type": kind, "site_admin": false, "user_view_type": "public",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", id), "gravatar_id": "",
		"url": u, "html_url": page,
		"followers_url": u + "/followers", "following_url": u + "/following{/other_user}", "gists_url": u + "/gists{/gist_id}",
		"starred_url": u + "/starred{/owner}{/repo}", "subscriptions_url": u + "/subscriptions",
		"organizations_url": u + "/orgs", "repos_url": u + "/repos", "events_url": u + "/events{/privacy}",
		"received_events_url": u + "/received_events",
	}
}

func users(logins []string) []Object {
	list := []Object{}
	for _, l := range logins {
		list = append(list, User(l))
	}
	return list
}

// teams renders teams with their slugs.
func teams(r *state.Repository, slugs []string) []Object {
	list := []Object{}
	for _, slug := range slugs {
		list = append(list, team(r, slug))
	}
	return list
}

func team(r *state.Repository, slug string) Object {
	id := UserID(slug)
	at := API(r, "/teams/%s", slug)
	return Object{
		"id": id, "node_id": NodeID("Team", id), "name": slug, "slug": slug, "description": nil, "permission": "push",
		"url": at, "html_url": Web(r, "/teams/%s", slug), "members_url": at + "/members{/member}", "repositories_url": at + "/repos",
		"parent": nil, "type": "organization",
	}
}

// association returns an author's association: owner, collaborator or none.
func association(r *state.Repository, login string) string {
	switch {
	case strings.EqualFold(login, r.Owner):
		return "OWNER"
	case slices.ContainsFunc(r.Users, state.Same(login)):
		return "COLLABORATOR"
	}
	return "NONE"
}

// LabelURL returns the API's address of a label.
func LabelURL(r *state.Repository, name string) string {
	return API(r, "/labels/%s", url.PathEscape(name))
}

// Label renders a label of a repository.
func Label(r *state.Repository, l *state.Label) Object {
	return Object{
		"id": l.ID, "node_id": NodeID("Label", l.ID), "url": LabelURL(r, l.Name), "name": l.Name,
		"color": l.Color, "default": false, "description": orNull(l.Description),
	}
}

// Milestone renders a milestone of a repository.
func Milestone(r *state.Repository, m *state.Milestone) Object {
	open, closed := 0, 0
	for _, i := range r.Issues {
		switch {
		case i.Milestone != m.Title:
		case i.State == "open":
			open++
		default:
			closed++
		}
	}
	o := Object{
		"url": API(r, "/milestones/%d", m.Number), "html_url": Web(r, "/milestone/%d", m.Number),
		"labels_url": API(r, "/milestones/%d/labels", m.Number), "id": m.ID, "node_id": NodeID("Milestone", m.ID),
		"number": m.Number, "title": m.Title, "description": nil, "creator": User(r.Owner), "state": m.State,
		"open_issues": open, "closed_issues": closed, "created_at": Stamp(m.Created), "updated_at": Stamp(m.Created),
		"due_on": nil, "closed_at": nil,
	}
	if m.State == "closed" {
		o["closed_at"] = Stamp(m.Created)
	}
	return o
}

// Issue renders an issue or a pull request.
func Issue(r *state.Repository, i *state.Record) Object {
	at := API(r, "/issues/%d", i.Number)
	labels := []Object{}
	for _, name := range i.Labels {
		labels = append(labels, Label(r, r.EnsureLabel(name)))
	}
	o := Object{
		"url": at, "repository_url": API(r, ""), "labels_url": at + "/labels{/name}", "comments_url": at + "/comments",
		"events_url": at + "/events", "timeline_url": at + "/timeline", "html_url": Web(r, "/issues/%d", i.Number),
		"id": i.ID, "node_id": NodeID(KindOf(i), i.ID), "number": i.Number, "title": i.Title, "body": orNull(i.Body),
		"user": User(i.Author), "author_association": association(r, i.Author), "labels": labels,
		"state": i.State, "state_reason": orNull(i.StateReason), "locked": i.Locked, "active_lock_reason": orNull(i.LockReason),
		"assignee": nil, "assignees": users(i.Assignees), "milestone": nil, "comments": len(i.Comments),
		"created_at": Stamp(i.CreatedAt), "updated_at": Stamp(i.Updated), "closed_at": nil, "closed_by": nil,
		"type": nil, "performed_via_github_app": nil, "reactions": rollup(at, i.Reactions),
	}
	if len(i.Assignees) > 0 {
		o["assignee"] = User(i.Assignees[0])
	}
	if m := r.Milestone(i.Milestone); m != nil {
		o["milestone"] = Milestone(r, m)
	}
	if !i.Closed.IsZero() {
		o["closed_at"] = Stamp(i.Closed)
	}
	if i.ClosedBy != "" {
		o["closed_by"] = User(i.ClosedBy)
	}
	if i.Type != "" {
		o["type"] = Type(r, i.Type)
	}
	if i.PullRequest {
		pull := Web(r, "/pull/%d", i.Number)
		o["html_url"], o["draft"] = pull, i.Draft
		o["pull_request"] = Object{
			"url": API(r, "/pulls/%d", i.Number), "html_url": pull, "diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": mergedAt(i),
		}
	}
	return o
}

// Type renders an issue type of a repository.
func Type(r *state.Repository, name string) Object {
	id := int64(slices.Index(r.Types, name) + 1)
	return Object{
		"id": id, "node_id": NodeID("IssueType", id), "name": name, "description": nil, "color": "gray",
		"created_at": Stamp(r.Created), "updated_at": Stamp(r.Created), "is_enabled": true,
	}
}

// Comment renders a comment on an issue.
func Comment(r *state.Repository, i *state.Record, c state.Comment) Object {
	at := API(r, "/issues/comments/%d", c.ID)
	var minimized any
	if c.Minimized != "" {
		minimized = Object{"reason": c.Minimized}
	}
	return Object{
		"minimized": minimized,
		"url":       at, "html_url": Web(r, "/issues/%d#issuecomment-%d", i.Number, c.ID), "issue_url": API(r, "/issues/%d", i.Number),
		"id": c.ID, "node_id": NodeID("IssueComment", c.ID), "user": User(c.Author),
		"created_at": Stamp(c.CreatedAt), "updated_at": Stamp(c.UpdatedAt), "author_association": association(r, c.Author),
		"body": c.Body, "reactions": rollup(at, c.Reactions), "performed_via_github_app": nil,
	}
}

// Review renders a review of a pull request.
func Review(r *state.Repository, i *state.Record, v state.Review) Object {
	id := UserID(v.Author) + int64(len(v.State))
	page, pull := Web(r, "/pull/%d#pullrequestreview-%d", i.Number, id), API(r, "/pulls/%d", i.Number)
	var user any
	if v.Author != "" {
		user = User(v.Author)
	}
	return Object{
		"id": id, "node_id": NodeID("PullRequestReview", id), "user": user, "body": "", "state": v.State, "html_url": page,
		"pull_request_url": pull, "_links": Object{"html": Object{"href": page}, "pull_request": Object{"href": pull}},
		"commit_id": fmt.Sprintf("%040x", id), "submitted_at": Stamp(i.Updated),
		"author_association": cmp.Or(v.Association, association(r, v.Author)),
	}
}

// File renders a file of the default branch, without its content.
func File(r *state.Repository, p, content string) Object {
	sha, escaped := state.BlobSHA(content), (&url.URL{Path: p}).EscapedPath()
	o := entry(r, p, API(r, "/git/blobs/%s", sha), Web(r, "/blob/main/%s", escaped))
	o["type"], o["sha"], o["size"] = "file", sha, len(content)
	o["download_url"] = fmt.Sprintf("https://raw.githubusercontent.com/%s/%s/main/%s", r.Owner, r.Name, escaped)
	return o
}

// Folder renders a folder of the default branch.
func Folder(r *state.Repository, p string) Object {
	sha, escaped := state.BlobSHA(p), (&url.URL{Path: p}).EscapedPath()
	o := entry(r, p, API(r, "/git/trees/%s", sha), Web(r, "/tree/main/%s", escaped))
	o["type"], o["sha"], o["size"], o["download_url"] = "dir", sha, 0, nil
	return o
}

// entry contains the common fields of a file and a folder.
func entry(r *state.Repository, p, git, page string) Object {
	self := API(r, "/contents/%s", (&url.URL{Path: p}).EscapedPath()) + "?ref=main"
	return Object{
		"name": path.Base(p), "path": p, "url": self, "html_url": page, "git_url": git,
		"_links": Object{"self": self, "git": git, "html": page},
	}
}
