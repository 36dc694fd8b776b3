package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// GitHub's limits of the lists of a pull request.
const (
	maxListed  = 3000 // files
	maxCommits = 250
)

// getPull answers with one pull request. One line is changed in each of its files.
func getPull(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	return reply(http.StatusOK, render.Pull(in.repo, in.issue))
}

// listPulls lists pull requests, the newest first. It supports the filters state, head and base.
func listPulls(in *input) answer {
	q := in.r.URL.Query()
	want := cmp.Or(q.Get("state"), "open")
	owner, head, filtered := strings.Cut(q.Get("head"), ":")
	var list []*state.Record
	for _, i := range in.repo.Issues {
		switch {
		case !i.PullRequest || !i.Visible(), want != "all" && want != i.State:
		case filtered && (i.Head != head || !strings.EqualFold(owner, in.repo.Owner)):
		case q.Get("base") != "" && q.Get("base") != i.Base:
		default:
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b *state.Record) int { return b.Number - a.Number })
	return listed(in.r, list, with(in.repo, render.ListedPull))
}

// createPull refuses a second open pull request of the same branches. The fake has no list of
// branches, so it accepts any name.
func createPull(in *input) answer {
	var body struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	if !in.decode(&body) || body.Title == "" || body.Head == "" || body.Base == "" {
		return invalid("PullRequest", "title", "missing_field", "")
	}
	for _, i := range in.repo.Issues {
		if i.PullRequest && i.State == "open" && i.Head == body.Head && i.Base == body.Base {
			return invalid("PullRequest", "head", "custom", fmt.Sprintf("A pull request already exists for %s:%s.", in.repo.Owner, body.Head))
		}
	}
	i := in.repo.Insert(state.Issue{
		Title: body.Title, Body: body.Body, Author: in.actor, PullRequest: true, Head: body.Head, Base: body.Base, Draft: body.Draft,
	})
	a := reply(http.StatusCreated, render.Pull(in.repo, i))
	a.header.Set("Location", render.API(in.repo, "/pulls/%d", i.Number))
	return a
}

// ReviewAs adds a review by another user to a pull request, and removes that user from the
// requested reviewers.
func (r *Repo) ReviewAs(actor string, number int, body string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Review(i, actor, body) })
}

// PushAs adds a commit to a pull request. name is the author's name in git, and at is the commit's
// date, which need not be now.
func (r *Repo) PushAs(name string, number int, at time.Time) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Push(i, name, at) })
}

// RemoveReviewerAs removes a requested review of a user.
func RemoveReviewerAs(r *Repo, actor string, number int, login string) {
	r.as(number, func(i *state.Record) { state.RemoveReviewer(r.state, i, actor, login) })
}

// requestReviewers refuses the whole request if one of the users or teams cannot review.
func requestReviewers(in *input) answer {
	var body struct {
		Reviewers []string `json:"reviewers"`
		Teams     []string `json:"team_reviewers"`
	}
	switch {
	case !in.issue.PullRequest:
		return notFound()
	case !in.decode(&body):
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	case slices.ContainsFunc(body.Reviewers, state.Same(in.issue.Author)):
		return failure(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
	case !in.repo.RequestReview(in.issue, in.actor, body.Reviewers, body.Teams):
		return failure(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. One or more of the users or teams you "+
			"specified is not a collaborator of the "+in.repo.Owner+"/"+in.repo.Name+" repository.")
	}
	return reply(http.StatusCreated, render.ListedPull(in.repo, in.issue))
}

// listFiles lists the changed files of a pull request.
func listFiles(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	files := in.issue.Files
	return listed(in.r, files[:min(len(files), maxListed)], func(name string) object {
		at := render.API(in.repo, "/contents/%s", (&url.URL{Path: name}).EscapedPath())
		o := object{
			"sha": fmt.Sprintf("%040x", len(name)), "filename": name, "status": "modified", "additions": 1, "deletions": 1, "changes": 2,
			"blob_url": render.Web(in.repo, "/blob/main/%s", name), "raw_url": render.Web(in.repo, "/raw/main/%s", name), "contents_url": at,
		}
		if before := in.issue.Moved[name]; before != "" {
			o["status"], o["previous_filename"] = "renamed", before
		}
		return o
	})
}

// listCommits lists the commits of a pull request, the oldest first.
func listCommits(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	list := in.issue.Commits
	return listed(in.r, list[:min(len(list), maxCommits)], func(message string) object {
		return commit(in, fmt.Sprintf("%040x", len(message)), message)
	})
}

// listReviews lists the reviews of a pull request, the oldest first.
func listReviews(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	return listed(in.r, in.issue.Reviews, func(r state.Review) object { return render.Review(in.repo, in.issue, r) })
}
