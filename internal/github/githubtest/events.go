package githubtest

import (
	"slices"
)

// reactions are the contents that GitHub knows.
var reactions = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func rollup(at string, list []Reaction) object {
	o := object{"url": at + "/reactions", "total_count": len(list)}
	for _, content := range reactions {
		n := 0
		for _, r := range list {
			if r.Content == content {
				n++
			}
		}
		o[content] = n
	}
	return o
}

func (in *input) renderReaction(r Reaction) object {
	id := userID(r.Author + r.Content)
	if r.At.IsZero() {
		r.At = in.now()
	}
	return object{
		"id": id, "node_id": nodeID("Reaction", id), "user": renderUser(r.Author),
		"content": r.Content, "created_at": stamp(r.At),
	}
}

// listEvents is the timeline without comments.
func listEvents(in *input) answer {
	list := slices.DeleteFunc(slices.Clone(in.issue.events), func(e event) bool { return e.kind == "commented" })
	return listed(in.r, list, func(e event) object {
		o := in.renderEvent(e)
		if e.assignee != "" {
			o["assigner"] = renderUser(e.actor)
		}
		return o
	})
}

func listTimeline(in *input) answer { return listed(in.r, in.issue.events, in.renderEvent) }

func (in *input) renderEvent(e event) object {
	if e.kind == "commented" {
		return in.renderCommented(e)
	}
	o := object{
		"id": e.id, "node_id": nodeID("Event", e.id), "url": in.repo.api("/issues/events/%d", e.id),
		"actor": renderUser(e.actor), "event": e.kind, "commit_id": nil, "commit_url": nil,
		"created_at": stamp(e.at), "performed_via_github_app": nil,
	}
	switch e.kind {
	case "labeled", "unlabeled":
		o["label"] = object{"name": e.label, "color": in.repo.ensureLabel(e.label).color}
	case "assigned", "unassigned":
		o["assignee"] = renderUser(e.assignee)
	case "milestoned", "demilestoned":
		o["milestone"] = object{"title": e.milestone}
	case "closed":
		o["state_reason"] = orNull(e.reason)
	case "locked":
		o["lock_reason"] = orNull(e.reason)
	case "renamed":
		o["rename"] = object{"from": e.renamedFrom, "to": e.renamed}
	case "issue_type_added":
		o["issue_type"] = in.repo.renderEventType(e.issueType)
	case "issue_type_changed":
		o["issue_type"], o["prev_issue_type"] = in.repo.renderEventType(e.issueType), in.repo.renderEventType(e.prevType)
	case "issue_type_removed":
		o["prev_issue_type"] = in.repo.renderEventType(e.prevType)
	}
	return o
}

// renderEventType is what an event says of an issue type.
func (r *Repo) renderEventType(name string) object {
	whole := r.renderType(name)
	return object{"id": whole["id"], "name": whole["name"], "color": whole["color"]}
}

func (in *input) renderCommented(e event) object {
	k := slices.IndexFunc(in.issue.Comments, func(c Comment) bool { return c.ID == e.comment })
	o := in.repo.renderComment(in.issue, in.issue.Comments[k])
	o["event"], o["actor"] = "commented", renderUser(e.actor)
	return o
}

// render is the repository with every field that GitHub's description asks for.
func (r *Repo) render() object {
	at, page := r.api(""), r.web("")
	o := object{
		"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.owner + "/" + r.name,
		"owner": renderUser(r.owner), "private": false, "html_url": page, "description": nil, "fork": false, "url": at,
		"created_at": stamp(r.created), "updated_at": stamp(r.created), "pushed_at": stamp(r.created),
		"git_url": "git://github.com/" + r.owner + "/" + r.name + ".git", "ssh_url": "git@github.com:" + r.owner + "/" + r.name + ".git",
		"clone_url": page + ".git", "svn_url": page, "homepage": nil, "language": nil, "mirror_url": nil, "license": nil,
		"size": 1, "stargazers_count": 0, "watchers_count": 0, "forks_count": 0, "forks": 0, "watchers": 0,
		"open_issues_count": r.open(), "open_issues": r.open(), "network_count": 0, "subscribers_count": 0,
		"has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_discussions": false,
		"archived": false, "disabled": false, "default_branch": "main", "visibility": "public",
	}
	for key, below := range repoLinks() {
		o[key] = at + below
	}
	return o
}

func (r *Repo) open() int {
	n := 0
	for _, i := range r.issues {
		if i.State == "open" && !i.deleted && i.transferred == "" {
			n++
		}
	}
	return n
}

func repoLinks() map[string]string {
	return map[string]string{
		"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
		"branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}",
		"comments_url": "/comments{/number}", "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
		"contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
		"downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}",
		"git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}", "hooks_url": "/hooks",
		"issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
		"issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}",
		"languages_url": "/languages", "merges_url": "/merges", "milestones_url": "/milestones{/number}",
		"notifications_url": "/notifications{?since,all,participating}", "pulls_url": "/pulls{/number}",
		"releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
		"subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
		"trees_url": "/git/trees{/sha}",
	}
}
