package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

const (
	maxLabelPages  = 20
	maxFilePages   = 30 // GitHub lists at most 3,000 files of a pull request
	maxReviewPages = 10
)

// Label returns the name of a label in the repository's spelling. See [runner.Repository].
func (c *Client) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	o := rest.LookUp(fmt.Sprintf("look up label %q for", rest.Clip(name, 100)), ref)
	if !rest.Segment(name) {
		return "", fmt.Errorf("%s: %w", o, triage.ErrNotFound)
	}
	var found label
	path := fmt.Sprintf("repos/%s/%s/labels/%s", ref.Owner, ref.Repo, url.PathEscape(name))
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &found}); err != nil {
		c.labels.forget(ref.Owner+"/"+ref.Repo, name)
		return "", err
	}
	if !strings.EqualFold(found.Name, name) {
		// GitHub answers with the new name of a renamed label. That is a different label.
		c.labels.forget(ref.Owner+"/"+ref.Repo, name)
		return "", fmt.Errorf("%s: %w: GitHub answers with %q", o, triage.ErrNotFound, rest.Clip(found.Name, 100))
	}
	c.labels.learn(ref.Owner+"/"+ref.Repo, found)
	return found.Name, nil
}

// LabelPage returns a page of the names of a repository's labels. See [runner.Repository].
func (c *Client) LabelPage(ctx context.Context, ref triage.Ref, page int) (names []string, last int, err error) {
	o := rest.LookUp("list the labels for", ref)
	var list []label
	path := fmt.Sprintf("repos/%s/%s/labels?per_page=%d&page=%d", ref.Owner, ref.Repo, rest.PageSize, page)
	r, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &list})
	if err != nil {
		return nil, 0, err
	}
	c.labels.learn(ref.Owner+"/"+ref.Repo, list...)
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names, max(page, r.Next, r.Last), nil
}

// Labels returns the names of a repository's labels. If there are more than 2,000, it returns the
// first 2,000 with ErrTruncated. ErrNotFound means that the repository does not exist, or that the
// token has no access to it.
func (c *Client) Labels(ctx context.Context, owner, repo string) ([]string, error) {
	o := rest.InRepository("list the labels of", owner, repo, rest.NeedIssuesRead)
	o.Pages = maxLabelPages
	names := []string{}
	for page, err := range rest.Pages[label](ctx, c.caller, o, fmt.Sprintf("repos/%s/%s/labels?", owner, repo)) {
		if err != nil {
			return names, err
		}
		for _, l := range page {
			names = append(names, l.Name)
		}
	}
	return names, nil
}

// Permission returns the permission of an account in the repository. See [runner.Repository].
func (c *Client) Permission(ctx context.Context, ref triage.Ref, login string) (string, error) {
	o := rest.LookUp(fmt.Sprintf("look up the permission of %q for", rest.Clip(login, 100)), ref)
	if !rest.Segment(login) {
		return "none", nil // the account was deleted
	}
	var answer struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	path := fmt.Sprintf("repos/%s/%s/collaborators/%s/permission", ref.Owner, ref.Repo, url.PathEscape(login))
	_, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &answer})
	switch {
	case errors.Is(err, triage.ErrNotFound):
		return "none", nil // no such user
	case err != nil:
		return "", err
	case answer.Role == "maintain" && answer.Permission == "write", answer.Role == "triage" && answer.Permission == "read":
		return answer.Role, nil // the older field "permission" has neither value
	}
	return answer.Permission, nil
}

// Pull returns the fields that only pull requests have. See [runner.Repository].
func (c *Client) Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error) {
	o := rest.LookUp("read pull request", ref)
	o.Need = rest.NeedPullsRead
	var raw json.RawMessage
	path := fmt.Sprintf("repos/%s/%s/pulls/%d", ref.Owner, ref.Repo, ref.Number)
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &raw}); err != nil {
		return triage.PullRequest{}, err
	}
	shared, p, err := triage.ParsePull(raw)
	if err != nil {
		return triage.PullRequest{}, fmt.Errorf("%s: %w", o, err)
	}
	p.Shared = shared
	return p, nil
}

// Files returns the files that a pull request changes. See [runner.Repository].
func (c *Client) Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error) {
	o := rest.ReadIssue("list the files of", ref)
	o.Need, o.Pages = rest.NeedPullsRead, maxFilePages
	var files []triage.ChangedFile
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/files?", ref.Owner, ref.Repo, ref.Number)
	for page, err := range rest.Pages[changedFile](ctx, c.caller, o, path) {
		if err != nil {
			return files, err
		}
		for _, f := range page {
			if f.Status == "copied" { // not a rename: the source file still exists
				f.Previous = ""
			}
			files = append(files, triage.ChangedFile{Path: f.Filename, Before: f.Previous})
		}
	}
	return files, nil
}

// Messages returns the messages of the commits of a pull request. See [runner.Repository].
func (c *Client) Messages(ctx context.Context, ref triage.Ref) ([]string, error) {
	o := rest.ReadIssue("list the commits of", ref)
	o.Need = rest.NeedPullsRead
	var list []string
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/commits?", ref.Owner, ref.Repo, ref.Number)
	for page, err := range rest.Pages[pullCommit](ctx, c.caller, o, path) {
		if err != nil {
			return list, err
		}
		for _, commit := range page {
			list = append(list, commit.Commit.Message)
		}
	}
	return list, nil
}

// A pullCommit is a commit of a pull request in GitHub's JSON.
type pullCommit struct {
	Commit struct {
		Message string `json:"message"`
	} `json:"commit"`
}

// Reviews returns the reviews of a pull request. See [runner.Repository].
func (c *Client) Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error) {
	o := rest.ReadIssue("list the reviews of", ref)
	o.Need, o.Pages = rest.NeedPullsRead, maxReviewPages
	var list []triage.Review
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/reviews?", ref.Owner, ref.Repo, ref.Number)
	for page, err := range rest.Pages[review](ctx, c.caller, o, path) {
		if err != nil {
			return list, err
		}
		for _, r := range page {
			list = append(list, triage.Review{Author: r.User.Login, Association: r.Association, State: r.State})
		}
	}
	return list, nil
}

// A review is a review in GitHub's JSON.
type review struct {
	User        login  `json:"user"` // null for a deleted account
	Association string `json:"author_association"`
	State       string `json:"state"`
}

// Opened returns the oldest issues and pull requests of an account. See [runner.Repository].
func (c *Client) Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error) {
	page, err := c.ListIssues(ctx, ref.Owner, ref.Repo, ListQuery{State: "all", Oldest: true, Creator: login})
	var list []triage.Issue
	for _, i := range page.Issues {
		list = append(list, i.Issue)
	}
	return list, err
}

// Account returns an account. See [runner.Repository].
func (c *Client) Account(ctx context.Context, ref triage.Ref, login string) (triage.Account, error) {
	o := rest.LookUp(fmt.Sprintf("look up the account %q for", rest.Clip(login, 100)), ref)
	if !rest.Segment(login) {
		return triage.Account{}, fmt.Errorf("%s: %w", o, triage.ErrNotFound)
	}
	var answer struct {
		ID        int64     `json:"id"`
		Login     string    `json:"login"`
		Type      string    `json:"type"`
		CreatedAt time.Time `json:"created_at"`
	}
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: "users/" + url.PathEscape(login), Out: &answer}); err != nil {
		return triage.Account{}, err
	}
	if !strings.EqualFold(answer.Login, login) {
		return triage.Account{}, fmt.Errorf("%s: %w: GitHub answers with %q", o, triage.ErrNotFound, rest.Clip(answer.Login, 100))
	}
	return triage.Account{ID: answer.ID, Type: answer.Type, CreatedAt: answer.CreatedAt}, nil
}

// A changedFile is a file of a pull request in GitHub's JSON.
type changedFile struct {
	Filename string `json:"filename"`
	Status   string `json:"status"`
	Previous string `json:"previous_filename"`
}

// A label is a label in GitHub's JSON.
type label struct {
	NodeID      string `json:"node_id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"` // or null
}

// File returns a file of at most 1 MiB. ErrNotFound means that the file does not exist, or that the
// token has no access to the code. The error also matches ErrNoRef if the ref does not exist. A
// directory or a larger file is an error.
func (c *Client) File(ctx context.Context, t Tree, path string) ([]byte, error) {
	return file(ctx, c.caller, contentsOp("read", "file", t, path), t.Ref, path)
}

// FilesAt returns the function by which a Runner reads files at a commit; see [runner.Host]. An empty commit
// means the head of the default branch.
func (c *Client) FilesAt(commit string) func(context.Context, triage.Repo, string) ([]byte, error) {
	return func(ctx context.Context, repo triage.Repo, path string) ([]byte, error) {
		return c.File(ctx, Tree{repo.Owner, repo.Name, commit}, path)
	}
}

// FileAt is [Client.File] for a tag or a commit. It returns ErrNotFound for a branch, because the
// next push would change the file. It also returns ErrNotFound for a branch or a tag whose name
// looks like the first digits of a commit. Such a tag must be written "refs/tags/…".
func (c *Client) FileAt(ctx context.Context, f config.RemoteFile) ([]byte, error) {
	ref := f.Ref
	switch {
	case !commit().MatchString(ref):
		ref = "refs/tags/" + strings.TrimPrefix(ref, "refs/tags/")
	case len(ref) < commitDigits:
		full, err := fullCommit(ctx, c.caller, f)
		if err != nil {
			return nil, err
		}
		ref = full
	}
	return file(ctx, c.caller, contentsOp("read", "file", Tree{f.Owner, f.Repo, f.Ref}, f.Path), ref, f.Path)
}

// Extended returns the file that a configuration extends, for [config.Spec.Remote]. The error matches
// fs.ErrNotExist if the file does not exist at that tag or commit.
func (c *Client) Extended(ctx context.Context, f config.RemoteFile) ([]byte, error) {
	data, err := c.FileAt(ctx, f)
	if errors.Is(err, triage.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return data, err
}

// Dir returns the paths of the files directly in a directory, sorted; "" is the root. Errors are
// those of [Client.File]. GitHub lists at most 1,000 entries.
func (c *Client) Dir(ctx context.Context, t Tree, path string) ([]string, error) {
	o := contentsOp("list", "directory", t, path)
	raw, err := contents(ctx, c.caller, o, t.Ref, path)
	if err != nil {
		return nil, err
	}
	var entries []struct{ Type, Path string }
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", o, &ContentError{errors.New("not a directory")})
	}
	var paths []string
	for _, e := range entries {
		if e.Type == "file" || e.Type == "symlink" {
			paths = append(paths, e.Path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// An About identifies a repository.
type About struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"` // "owner/name", in the repository's spelling, or after it was renamed
	DefaultBranch string `json:"default_branch"`
}

// About returns the id, the name and the default branch of a repository. GitHub also answers for an earlier name
// of a repository.
func (c *Client) About(ctx context.Context, owner, repo string) (a About, err error) {
	o := rest.InRepository("look up the repository", owner, repo, rest.NeedContentsRead)
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: fmt.Sprintf("repos/%s/%s", owner, repo), Out: &a}); err != nil {
		return About{}, err
	}
	if a.ID < 1 || a.DefaultBranch == "" {
		return About{}, fmt.Errorf("%s: the answer has no id or default branch", o)
	}
	return a, nil
}
