package render

import (
	"fmt"
	"maps"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// Pull renders a pull request. One line is changed in each of its files.
func Pull(r *state.Repository, i *state.Record) Object {
	o, at, page := Issue(r, i), API(r, "/pulls/%d", i.Number), Web(r, "/pull/%d", i.Number)
	for _, key := range []string{"repository_url", "labels_url", "events_url", "timeline_url", "closed_by", "type", "reactions", "pull_request", "state_reason", "performed_via_github_app"} {
		delete(o, key)
	}
	id := fmt.Sprintf("%040x", i.Number)
	links := Object{
		"comments_url": API(r, "/issues/%d/comments", i.Number), "commits_url": at + "/commits", "statuses_url": API(r, "/statuses/%s", id),
		"review_comments_url": at + "/comments", "review_comment_url": API(r, "/pulls/comments{/number}"),
	}
	maps.Copy(o, links)
	maps.Copy(o, Object{
		"url": at, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "issue_url": API(r, "/issues/%d", i.Number),
		"merged_at": mergedAt(i), "merge_commit_sha": nil, "merged": i.Merged, "mergeable": nil, "rebaseable": nil, "mergeable_state": "unknown",
		"merged_by": nil, "auto_merge": nil, "maintainer_can_modify": false, "draft": i.Draft,
		"requested_reviewers": users(i.Reviewers), "requested_teams": teams(r, i.Teams), "review_comments": 0, "commits": 1,
		"additions": len(i.Files), "deletions": len(i.Files), "changed_files": len(i.Files),
		"head": branch(r, i.Head, id), "base": branch(r, i.Base, fmt.Sprintf("%040x", 0)),
	})
	o["_links"] = Object{
		"self": link(at), "html": link(page), "issue": link(o["issue_url"]), "comments": link(links["comments_url"]),
		"review_comments": link(links["review_comments_url"]), "review_comment": link(links["review_comment_url"]),
		"commits": link(links["commits_url"]), "statuses": link(links["statuses_url"]),
	}
	return o
}

// mergedAt returns the time at which a pull request was merged, or the JSON null.
func mergedAt(i *state.Record) any {
	if !i.Merged {
		return nil
	}
	return Stamp(i.Closed)
}

// ListedPull renders a pull request with the fields that a list contains.
func ListedPull(r *state.Repository, i *state.Record) Object {
	o := Pull(r, i)
	for _, key := range []string{
		"additions", "deletions", "changed_files", "comments", "review_comments", "commits",
		"merged", "merged_by", "mergeable", "rebaseable", "mergeable_state", "maintainer_can_modify",
	} {
		delete(o, key)
	}
	return o
}

func link(to any) Object { return Object{"href": to} }

// branch renders the head or the base of a pull request.
func branch(r *state.Repository, name, commit string) Object {
	repo := Repository(r)
	repo["has_downloads"] = true
	return Object{"label": r.Owner + ":" + name, "ref": name, "sha": commit, "user": User(r.Owner), "repo": repo}
}

// committed renders a commit in a timeline. It contains the author's name from git, and no GitHub
// account.
func committed(r *state.Repository, e state.Event) Object {
	sha := fmt.Sprintf("%040x", e.ID)
	by := Object{"name": e.Actor, "email": "x@example.com", "date": Stamp(e.Dated)}
	return Object{
		"event": "committed", "sha": sha, "node_id": NodeID("Commit", e.ID), "url": API(r, "/git/commits/%s", sha),
		"html_url": Web(r, "/commit/%s", sha), "author": by, "committer": by, "message": "Change", "parents": []Object{},
		"tree":         Object{"sha": sha, "url": API(r, "/git/trees/%s", sha)},
		"verification": Object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}

// reviewed renders a review in a timeline.
func reviewed(r *state.Repository, i *state.Record, e state.Event) Object {
	page, at := Web(r, "/pull/%d#pullrequestreview-%d", i.Number, e.ID), API(r, "/pulls/%d", i.Number)
	return Object{
		"event": "reviewed", "id": e.ID, "node_id": NodeID("Review", e.ID), "user": User(e.Actor), "body": orNull(e.Body), "state": "commented",
		"commit_id": fmt.Sprintf("%040x", i.Number), "html_url": page, "pull_request_url": at, "submitted_at": Stamp(e.At),
		"author_association": association(r, e.Actor), "_links": Object{"html": link(page), "pull_request": link(at)},
	}
}
