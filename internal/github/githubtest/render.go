package githubtest

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// orNull is null for an empty string.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nodeID(kind string, id int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%d", kind, id))
}

// api returns the API's address of something in the repository.
func (r *Repo) api(format string, args ...any) string {
	return fmt.Sprintf("%s/repos/%s/%s", apiURL, r.owner, r.name) + fmt.Sprintf(format, args...)
}

// web returns the page of something in the repository.
func (r *Repo) web(format string, args ...any) string {
	return fmt.Sprintf("%s/%s/%s", webURL, r.owner, r.name) + fmt.Sprintf(format, args...)
}

// userID is the same for the same login, without regard to case.
func userID(login string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // never fails
	return int64(h.Sum32())
}

func renderUser(login string) object {
	id := userID(login)
	u := apiURL + "/users/" + url.PathEscape(login)
	kind, page := "User", webURL+"/"+url.PathEscape(login)
	if name, bot := strings.CutSuffix(login, "[bot]"); bot {
		kind, page = "Bot", webURL+"/apps/"+url.PathEscape(name)
	}
	return object{
		"login": login, "id": id, "node_id": nodeID("User", id), "type": kind, "site_admin": false, "user_view_type": "public",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", id), "gravatar_id": "",
		"url": u, "html_url": page,
		"followers_url": u + "/followers", "following_url": u + "/following{/other_user}", "gists_url": u + "/gists{/gist_id}",
		"starred_url": u + "/starred{/owner}{/repo}", "subscriptions_url": u + "/subscriptions",
		"organizations_url": u + "/orgs", "repos_url": u + "/repos", "events_url": u + "/events{/privacy}",
		"received_events_url": u + "/received_events",
	}
}

func renderUsers(logins []string) []object {
	list := []object{}
	for _, l := range logins {
		list = append(list, renderUser(l))
	}
	return list
}

// association is what GitHub says of an author: owner, collaborator or nobody.
func (r *Repo) association(login string) string {
	switch {
	case strings.EqualFold(login, r.owner):
		return "OWNER"
	case slices.ContainsFunc(r.users, same(login)):
		return "COLLABORATOR"
	}
	return "NONE"
}

func (r *Repo) labelURL(name string) string { return r.api("/labels/%s", url.PathEscape(name)) }

func (r *Repo) renderLabel(l *label) object {
	return object{
		"id": l.id, "node_id": nodeID("Label", l.id), "url": r.labelURL(l.name), "name": l.name,
		"color": l.color, "default": false, "description": orNull(l.description),
	}
}

func (r *Repo) renderMilestone(m *milestone) object {
	open, closed := 0, 0
	for _, i := range r.issues {
		switch {
		case i.Milestone != m.title:
		case i.State == "open":
			open++
		default:
			closed++
		}
	}
	o := object{
		"url": r.api("/milestones/%d", m.number), "html_url": r.web("/milestone/%d", m.number),
		"labels_url": r.api("/milestones/%d/labels", m.number), "id": m.id, "node_id": nodeID("Milestone", m.id),
		"number": m.number, "title": m.title, "description": nil, "creator": renderUser(r.owner), "state": m.state,
		"open_issues": open, "closed_issues": closed, "created_at": stamp(m.created), "updated_at": stamp(m.created),
		"due_on": nil, "closed_at": nil,
	}
	if m.state == "closed" {
		o["closed_at"] = stamp(m.created)
	}
	return o
}

func (r *Repo) renderIssue(i *issue) object {
	at := r.api("/issues/%d", i.Number)
	labels := []object{}
	for _, name := range i.Labels {
		labels = append(labels, r.renderLabel(r.ensureLabel(name)))
	}
	o := object{
		"url": at, "repository_url": r.api(""), "labels_url": at + "/labels{/name}", "comments_url": at + "/comments",
		"events_url": at + "/events", "timeline_url": at + "/timeline", "html_url": r.web("/issues/%d", i.Number),
		"id": i.id, "node_id": nodeID("Issue", i.id), "number": i.Number, "title": i.Title, "body": orNull(i.Body),
		"user": renderUser(i.Author), "author_association": r.association(i.Author), "labels": labels,
		"state": i.State, "state_reason": orNull(i.StateReason), "locked": i.Locked, "active_lock_reason": orNull(i.LockReason),
		"assignee": nil, "assignees": renderUsers(i.Assignees), "milestone": nil, "comments": len(i.Comments),
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.updated), "closed_at": nil, "closed_by": nil,
		"type": nil, "performed_via_github_app": nil, "reactions": rollup(at, i.Reactions),
	}
	if len(i.Assignees) > 0 {
		o["assignee"] = renderUser(i.Assignees[0])
	}
	if m := r.milestone(i.Milestone); m != nil {
		o["milestone"] = r.renderMilestone(m)
	}
	if !i.closed.IsZero() {
		o["closed_at"] = stamp(i.closed)
	}
	if i.closedBy != "" {
		o["closed_by"] = renderUser(i.closedBy)
	}
	if i.Type != "" {
		o["type"] = r.renderType(i.Type)
	}
	if i.PullRequest {
		pull := r.web("/pull/%d", i.Number)
		o["html_url"], o["draft"] = pull, false
		o["pull_request"] = object{
			"url": r.api("/pulls/%d", i.Number), "html_url": pull, "diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": nil,
		}
	}
	return o
}

func (r *Repo) renderType(name string) object {
	id := int64(slices.Index(r.types, name) + 1)
	return object{
		"id": id, "node_id": nodeID("IssueType", id), "name": name, "description": nil, "color": "gray",
		"created_at": stamp(r.created), "updated_at": stamp(r.created), "is_enabled": true,
	}
}

func (r *Repo) renderComment(i *issue, c Comment) object {
	at := r.api("/issues/comments/%d", c.ID)
	return object{
		"url": at, "html_url": r.web("/issues/%d#issuecomment-%d", i.Number, c.ID), "issue_url": r.api("/issues/%d", i.Number),
		"id": c.ID, "node_id": nodeID("IssueComment", c.ID), "user": renderUser(c.Author),
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "author_association": r.association(c.Author),
		"body": c.Body, "reactions": rollup(at, c.Reactions), "performed_via_github_app": nil,
	}
}

func (r *Repo) renderEntry(kind, p string, size int, sha string) object {
	escaped := (&url.URL{Path: p}).EscapedPath()
	self := r.api("/contents/%s", escaped) + "?ref=main"
	git, page, raw := r.api("/git/blobs/%s", sha), r.web("/blob/main/%s", escaped), any(
		fmt.Sprintf("https://raw.githubusercontent.com/%s/%s/main/%s", r.owner, r.name, escaped))
	if kind == "dir" {
		git, page, raw = r.api("/git/trees/%s", sha), r.web("/tree/main/%s", escaped), nil
	}
	return object{
		"type": kind, "name": path.Base(p), "path": p, "sha": sha, "size": size, "url": self, "html_url": page,
		"git_url": git, "download_url": raw, "_links": object{"self": self, "git": git, "html": page},
	}
}
