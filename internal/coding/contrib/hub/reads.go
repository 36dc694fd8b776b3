package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Found is an issue that a search found.
type Found struct {
	Ref   triage.Ref
	Issue triage.Issue
}

// Search returns the first page of search results, the last updated first. whole is false if
// GitHub stopped before it had searched everything.
func (h *Hub) Search(ctx context.Context, scope, query string, size int) (list []Found, whole bool, err error) {
	v := url.Values{"q": {query}, "sort": {"updated"}, "order": {"desc"}, "per_page": {fmt.Sprint(size)}}
	r := read{
		op:    rest.Op{What: "search issues", Scope: rest.NoRepository, Need: rest.NeedIssuesRead, Absent: triage.ErrNotFound},
		scope: scope, path: "search/issues?" + v.Encode(), query: query,
	}
	var answer struct {
		Incomplete bool `json:"incomplete_results"`
		Items      []json.RawMessage
	}
	if _, err := h.get(ctx, r, &answer); err != nil {
		return nil, false, err
	}
	list = []Found{}
	for _, raw := range answer.Items {
		var at struct {
			Repo string `json:"repository_url"`
		}
		issue, err := triage.ParseIssue(raw)
		if err != nil || json.Unmarshal(raw, &at) != nil {
			continue
		}
		_, full, _ := strings.Cut(at.Repo, "/repos/")
		ref, err := controller.ParseIssue(fmt.Sprintf("%s#%d", full, issue.Number))
		if err == nil {
			list = append(list, Found{ref, issue.Issue})
		}
	}
	return list, !answer.Incomplete, nil
}

// IssuePath returns the path of an issue, as a throttle names it.
func IssuePath(ref triage.Ref) string {
	return fmt.Sprintf("repos/%s/%s/issues/%d", ref.Owner, ref.Repo, ref.Number)
}

// RepoPath returns the API path of a repository.
func RepoPath(ref triage.Ref) string { return fmt.Sprintf("repos/%s/%s", ref.Owner, ref.Repo) }

// TreePath returns the API path of the files of a repository.
func TreePath(ref triage.Ref) string { return RepoPath(ref) + "/git/trees/HEAD?recursive=1" }

// Issue returns an issue.
func (h *Hub) Issue(ctx context.Context, scope string, ref triage.Ref) (triage.Issue, error) {
	var raw json.RawMessage
	r := read{op: rest.ReadIssue("read", ref), scope: scope, path: IssuePath(ref), issue: true}
	if _, err := h.get(ctx, r, &raw); err != nil {
		return triage.Issue{}, err
	}
	s, err := triage.ParseIssue(raw)
	if err != nil {
		return triage.Issue{}, fmt.Errorf("read %s: %w", ref, err)
	}
	return s.Issue, nil
}

// A Repo is a repository with its address for people.
type Repo struct {
	scoring.Repo
	URL string
	// NoPulls is the reason why the contributor cannot open a pull request, as a sentence; empty: the
	// contributor can. Such a repository counts as disabled.
	NoPulls string
}

// Repo returns the repository of an issue.
func (h *Hub) Repo(ctx context.Context, scope string, ref triage.Ref) (Repo, error) {
	var w struct {
		URL           string    `json:"html_url"`
		Language      *string   `json:"language"`
		Topics        []string  `json:"topics"`
		Stars         int       `json:"stargazers_count"`
		PushedAt      time.Time `json:"pushed_at"`
		Archived      bool      `json:"archived"`
		Disabled      bool      `json:"disabled"`
		HasPulls      *bool     `json:"has_pull_requests"`
		PullPolicy    string    `json:"pull_request_creation_policy"`
		DefaultBranch string    `json:"default_branch"`
		Permissions   struct {
			Push bool `json:"push"`
		} `json:"permissions"`
		License *struct {
			Key string `json:"key"`
		} `json:"license"`
	}
	r := read{op: rest.InRepository("read the repository", ref.Owner, ref.Repo, rest.NeedContentsRead), scope: scope, path: RepoPath(ref)}
	if _, err := h.get(ctx, r, &w); err != nil {
		return Repo{}, err
	}
	out := Repo{URL: w.URL, Repo: scoring.Repo{
		Known: true, Topics: w.Topics, Stars: w.Stars, PushedAt: w.PushedAt, Archived: w.Archived, Disabled: w.Disabled,
		License: w.License != nil, DefaultBranch: w.DefaultBranch,
	}}
	switch {
	case w.HasPulls != nil && !*w.HasPulls:
		out.NoPulls = "The repository accepts no pull requests."
	case w.PullPolicy == "collaborators_only" && !w.Permissions.Push:
		out.NoPulls = "The repository accepts pull requests only from its collaborators."
	}
	out.Disabled = out.Disabled || out.NoPulls != ""
	if w.Language != nil {
		const limit = 60
		out.Language = text.Plain(*w.Language, limit)
	}
	return out, nil
}

// Pulls returns the 100 most recently updated open pull requests of the issue's repository. total
// is a lower bound of the number of open pull requests.
func (h *Hub) Pulls(ctx context.Context, scope string, ref triage.Ref) (list []evidence.Pull, total int, err error) {
	var page []struct {
		Number int     `json:"number"`
		Title  string  `json:"title"`
		Body   *string `json:"body"`
		URL    string  `json:"html_url"`
		Head   struct {
			Ref string `json:"ref"`
		} `json:"head"`
	}
	r := read{
		op: rest.InRepository("list the pull requests of", ref.Owner, ref.Repo, rest.NeedPullsRead), scope: scope,
		path: RepoPath(ref) + fmt.Sprintf("/pulls?state=open&sort=updated&direction=desc&per_page=%d", rest.PageSize),
	}
	last, err := h.get(ctx, r, &page)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range page {
		pull := evidence.Pull{Number: p.Number, Title: p.Title, Head: p.Head.Ref, URL: p.URL}
		if p.Body != nil {
			pull.Body = *p.Body
		}
		list = append(list, pull)
	}
	total = len(list)
	if last > 1 {
		total = (last-1)*rest.PageSize + 1
	}
	return list, total, nil
}

// Tree returns the files of the default branch. Truncated means that there are more.
func (h *Hub) Tree(ctx context.Context, scope string, ref triage.Ref) (files []evidence.Path, truncated bool, err error) {
	var answer struct {
		Tree []struct {
			Path, Type string
			Size       int64
		}
		Truncated bool
	}
	r := read{op: rest.InRepository("list the files of", ref.Owner, ref.Repo, rest.NeedContentsRead), scope: scope, path: TreePath(ref)}
	if _, err := h.get(ctx, r, &answer); err != nil {
		return nil, false, err
	}
	for _, e := range answer.Tree {
		if e.Type == "blob" {
			files = append(files, evidence.Path{Name: e.Path, Size: e.Size})
		}
	}
	return files, answer.Truncated, nil
}

// File returns the content of a file of the default branch, of at most [rest.MaxFile] bytes.
// If there is no such file, the error matches [triage.ErrNotFound].
func (h *Hub) File(ctx context.Context, scope string, ref triage.Ref, path string) ([]byte, error) {
	escaped, err := rest.EscapePath(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", triage.ErrNotFound, err)
	}
	var raw json.RawMessage
	r := read{
		op:    rest.InRepository(fmt.Sprintf("read %q of", rest.Clip(path, maxShown)), ref.Owner, ref.Repo, rest.NeedContentsRead),
		scope: scope, path: RepoPath(ref) + "/contents/" + escaped,
	}
	if _, err := h.get(ctx, r, &raw); err != nil {
		return nil, err
	}
	data, err := rest.FileContent(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", r.op, triage.ErrNotFound, err)
	}
	return data, nil
}

const maxShown = 200 // characters of a path in an error

// Comments returns up to 100 comments that were made or changed since a moment.
func (h *Hub) Comments(ctx context.Context, scope string, ref triage.Ref, since time.Time) ([]triage.Comment, error) {
	var page []struct {
		ID        int64     `json:"id"`
		URL       string    `json:"html_url"`
		Body      string    `json:"body"`
		CreatedAt time.Time `json:"created_at"`
		User      *struct {
			Login string `json:"login"`
		} `json:"user"`
	}
	const day = 24 * time.Hour // rounded to days, so that repeated reads have the same cache key
	v := url.Values{"since": {since.UTC().Truncate(day).Format(time.RFC3339)}, "per_page": {fmt.Sprint(rest.PageSize)}}
	r := read{op: rest.ReadIssue("list the comments of", ref), scope: scope, path: IssuePath(ref) + "/comments?" + v.Encode()}
	if _, err := h.get(ctx, r, &page); err != nil {
		return nil, err
	}
	var list []triage.Comment
	for _, c := range page {
		comment := triage.Comment{ID: c.ID, URL: c.URL, Body: c.Body, CreatedAt: c.CreatedAt}
		if c.User != nil {
			comment.Author = c.User.Login
		}
		list = append(list, comment)
	}
	return list, nil
}

// Each calls do with the numbers from 0 to n-1, several concurrently. It returns when all calls
// have returned.
func Each(n int, do func(i int)) {
	const atOnce = 4
	next := make(chan int)
	var all sync.WaitGroup
	for range min(n, atOnce) {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}
