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

// getPull is one pull request. Each of its files has a line that is changed.
func getPull(in *input) answer {
	if !in.issue.PullRequest {
		return notFound()
	}
	return reply(http.StatusOK, render.Pull(in.repo, in.issue))
}

// listPulls knows the filters state, head and base, and lists the newest first.
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

// createPull refuses a second open pull request of the same branches. It knows no
// branches: any name will do.
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

// ReviewAs lets another user review a pull request: their review is no longer requested.
func (r *Repo) ReviewAs(actor string, number int, body string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Review(i, actor, body) })
}

// PushAs lets a person with that name push a commit to a pull request, whose date may be any.
func (r *Repo) PushAs(name string, number int, at time.Time) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Push(i, name, at) })
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
