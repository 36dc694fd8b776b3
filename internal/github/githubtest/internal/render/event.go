package render

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// Reactions returns the contents of reactions that GitHub supports, such as "+1".
func Reactions() []string {
	return []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
}

// rollup counts reactions.
func rollup(at string, list []state.Reaction) Object {
	o := Object{"url": at + "/reactions", "total_count": len(list)}
	for _, content := range Reactions() {
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

// Reaction renders a reaction. A zero time is replaced by now.
func Reaction(x state.Reaction, now time.Time) Object {
	id := UserID(x.Author + x.Content)
	if x.At.IsZero() {
		x.At = now
	}
	return Object{
		"id": id, "node_id": NodeID("Reaction", id), "user": User(x.Author),
		"content": x.Content, "created_at": Stamp(x.At),
	}
}

// Event is an entry of an issue's timeline.
func Event(r *state.Repository, i *state.Record, e state.Event) Object {
	switch e.Kind {
	case "commented":
		return commented(r, i, e)
	case "reviewed":
		return reviewed(r, i, e)
	case "committed":
		return committed(r, e)
	}
	o := Object{
		"id": e.ID, "node_id": NodeID("Event", e.ID), "url": API(r, "/issues/events/%d", e.ID),
		"actor": User(e.Actor), "event": e.Kind, "commit_id": nil, "commit_url": nil,
		"created_at": Stamp(e.At), "performed_via_github_app": nil,
	}
	switch e.Kind {
	case "labeled", "unlabeled":
		color := "ededed" // of a label that was renamed or deleted since
		if l := r.Label(e.Label); l != nil {
			color = l.Color
		}
		o["label"] = Object{"name": e.Label, "color": color}
	case "assigned", "unassigned":
		o["assignee"] = User(e.Assignee)
	case "milestoned", "demilestoned":
		o["milestone"] = Object{"title": e.Milestone}
	case "review_requested", "review_request_removed":
		o["review_requester"] = User(e.Actor)
		if e.Team != "" {
			o["requested_team"] = team(r, e.Team)
		} else {
			o["requested_reviewer"] = User(e.Reviewer)
		}
	case "closed":
		o["state_reason"] = orNull(e.Reason)
	case "locked":
		o["lock_reason"] = orNull(e.Reason)
	case "renamed":
		o["rename"] = Object{"from": e.RenamedFrom, "to": e.Renamed}
	case "issue_type_added":
		o["issue_type"] = eventType(r, e.IssueType)
	case "issue_type_changed":
		o["issue_type"], o["prev_issue_type"] = eventType(r, e.IssueType), eventType(r, e.PrevType)
	case "issue_type_removed":
		o["prev_issue_type"] = eventType(r, e.PrevType)
	}
	if r.Automation != state.AutomationOff && intends(e.Kind) {
		o["intent"] = intent(e.Intent)
	}
	return o
}

// intends reports whether GitHub's description of a kind of event has an intent.
func intends(kind string) bool {
	switch kind {
	case "labeled", "unlabeled", "assigned", "closed", "reopened", "issue_type_added", "issue_type_changed", "issue_type_removed":
		return true
	}
	return false
}

// intent renders the intent of an event, or null if it has none.
func intent(in state.Intent) any {
	if in == (state.Intent{}) {
		return nil
	}
	return Object{"rationale": orNull(in.Rationale), "confidence": orNull(strings.ToUpper(in.Confidence))}
}

// Suggestion renders a suggestion in the answer to a change of an issue; ignored is why it was
// ignored, or empty.
func Suggestion(s state.Suggestion, ignored string) Object {
	name := map[string]string{"label": "name", "assignee": "login", "type": "value"}[s.Kind]
	o := Object{name: s.Value, "suggest": s.Suggest}
	if s.Rationale != "" {
		o["rationale"] = s.Rationale
	}
	if s.Confidence != "" {
		o["confidence"] = s.Confidence
	}
	if ignored != "" {
		o["ignored"], o["ignored_reason"] = true, ignored
	}
	return o
}

// eventType renders an issue type in an event.
func eventType(r *state.Repository, name string) Object {
	whole := Type(r, name)
	return Object{"id": whole["id"], "name": whole["name"], "color": whole["color"]}
}

func commented(r *state.Repository, i *state.Record, e state.Event) Object {
	k := slices.IndexFunc(i.Comments, func(c state.Comment) bool { return c.ID == e.Comment })
	o := Comment(r, i, i.Comments[k])
	o["event"], o["actor"] = "commented", User(e.Actor)
	return o
}

// Repository renders a repository with every field that GitHub's description requires.
func Repository(r *state.Repository) Object {
	at, page := API(r, ""), Web(r, "")
	o := Object{
		"id": r.ID, "node_id": NodeID("Repository", r.ID), "name": r.Name, "full_name": r.Owner + "/" + r.Name,
		"owner": User(r.Owner), "private": false, "html_url": page, "description": nil, "fork": false, "url": at,
		"created_at": Stamp(r.Created), "updated_at": Stamp(r.Created), "pushed_at": Stamp(r.Created),
		"git_url": "git://github.com/" + r.Owner + "/" + r.Name + ".git", "ssh_url": "git@github.com:" + r.Owner + "/" + r.Name + ".git",
		"clone_url": page + ".git", "svn_url": page, "homepage": nil, "language": nil, "mirror_url": nil, "license": nil,
		"size": 1, "stargazers_count": 0, "watchers_count": 0, "forks_count": 0, "forks": 0, "watchers": 0,
		"open_issues_count": r.Open(), "open_issues": r.Open(), "network_count": 0, "subscribers_count": 0,
		"has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_downloads": false, "has_discussions": false,
		"archived": false, "disabled": false, "default_branch": "main", "visibility": "public",
	}
	o["language"], o["topics"], o["archived"] = orNull(r.About.Language), append([]string{}, r.About.Topics...), r.About.Archived
	o["stargazers_count"], o["watchers_count"], o["watchers"] = r.About.Stars, r.About.Stars, r.About.Stars
	if !r.About.PushedAt.IsZero() {
		o["pushed_at"] = Stamp(r.About.PushedAt)
	}
	if r.About.PullPolicy != "" {
		o["pull_request_creation_policy"] = r.About.PullPolicy
	}
	if key := r.About.License; key != "" {
		o["license"] = Object{"key": key, "name": key, "spdx_id": key, "url": nil, "node_id": NodeID("License", 1)}
	}
	for key, below := range repoLinks() {
		o[key] = at + below
	}
	return o
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
