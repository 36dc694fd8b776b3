package githubtest

import (
	"fmt"
	"net/url"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// What is listed of a pull request at most.
const (
	maxListed  = 3000 // files
	maxCommits = 250
)

// listFiles lists what a pull request changes.
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
