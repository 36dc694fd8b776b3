package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
	"github.com/org/foreman-action/internal/roundtrip"
)

// A Reader reads the artifacts of all runs of one repository. It is safe for
// concurrent use.
type Reader interface {
	// List returns the artifacts of a name, trusted or not, in any order. The error for a
	// missing permission is [ErrDenied] and names the permission.
	List(ctx context.Context, name string) ([]Info, error)
	// Download returns the zip of an artifact if it has at most limit bytes. The error is
	// [ErrGone], [ErrTooLarge], [ErrDenied], or an error of the connection.
	Download(ctx context.Context, id int64, limit int) ([]byte, error)
	// Recent returns the newest 2,000 artifacts of all names, in any order, down to the id after.
	// whole is false if there are more than 2,000. Errors are those of List.
	Recent(ctx context.Context, after int64) (list []Info, whole bool, err error)
}

// Further errors of a [Reader]; test with errors.Is.
var (
	// ErrGone means that the artifact expired or was deleted.
	ErrGone = errors.New("the artifact is gone")
	// ErrTooLarge means that the zip is larger than the limit.
	ErrTooLarge = errors.New("the artifact is too large")
)

// An Info describes an artifact. It contains the fields of the REST API that this package needs,
// with their names in the API.
type Info struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Digest      string    `json:"digest"` // of the zip, "sha256:" and hexadecimal digits
	Expired     bool      `json:"expired"`
	CreatedAt   time.Time `json:"created_at"`
	WorkflowRun Run       `json:"workflow_run"`
}

// A Run is the workflow run that made an artifact. If a pull request from a fork triggered the run,
// RepositoryID is our repository and HeadRepositoryID is the fork.
type Run struct {
	ID               int64  `json:"id"`
	RepositoryID     int64  `json:"repository_id"`
	HeadRepositoryID int64  `json:"head_repository_id"`
	HeadBranch       string `json:"head_branch"`
}

// The list of a name ends after maxPages pages. Only an attacker makes more artifacts of one name.
const (
	pageSize = 100
	maxPages = 10
	maxAll   = 20      // pages of the list of all artifacts
	maxPage  = 4 << 20 // bytes
)

// rest is the [Reader] over the documented REST API.
type rest struct {
	c     *rpc.Client
	repo  string // path of the repository
	api   string // version of the REST API
	trust provenance
	ours  func(name string) bool // whether the store makes artifacts with such a name
	log   *slog.Logger

	mu      sync.Mutex
	renamed map[string]bool // whether a branch was renamed to the default branch, for those that were looked up
}

func newREST(o Options, ours func(name string) bool) (*rest, error) {
	if o.APIURL == "" {
		return nil, errors.New("GITHUB_API_URL is not set")
	}
	c, err := o.client(o.APIURL, "GITHUB_API_URL", o.Token)
	if err != nil {
		return nil, err
	}
	return &rest{c: c, repo: "/repos/" + o.Repo, api: roundtrip.GitHubVersion(o.APIURL), trust: provenance{o.RepositoryID, o.DefaultBranch}, ours: ours, log: o.Log, renamed: map[string]bool{}}, nil
}

// List implements [Reader].
func (r *rest) List(ctx context.Context, name string) ([]Info, error) {
	out, whole, err := r.pages(ctx, name, maxPages, 0)
	if err == nil && !whole {
		r.log.Warn("list of artifacts is incomplete", "name", name, "listed", len(out))
	}
	if err != nil {
		return nil, err
	}
	return out, r.rename(ctx, out)
}

// maxBranches is the maximum number of branches that are looked up in one run.
const maxBranches = 3

// rename replaces an earlier name of the default branch by the present one in the runs of our own
// artifacts, where no artifact of the present branch has the same name. It looks up at most
// maxBranches branches, each once. The runs of forks stay unchanged: a fork's branch can have the
// same name. The error means that it is unknown whether an artifact counts.
func (r *rest) rename(ctx context.Context, list []Info) error {
	now := r.trust.own()
	own := func(info Info) bool {
		run := info.WorkflowRun
		return run.RepositoryID == now.RepositoryID && run.HeadRepositoryID == now.HeadRepositoryID && !info.Expired && r.ours(info.Name)
	}
	present := map[string]bool{}
	for _, info := range list {
		if own(info) && info.WorkflowRun.HeadBranch == now.HeadBranch {
			present[info.Name] = true
		}
	}
	for i := range list {
		if !own(list[i]) || present[list[i].Name] {
			continue
		}
		switch renamed, err := r.wasDefault(ctx, list[i].WorkflowRun.HeadBranch); {
		case err != nil:
			return err
		case renamed:
			list[i].WorkflowRun.HeadBranch = now.HeadBranch
		}
	}
	return nil
}

// wasDefault reports whether a branch was renamed to the default branch: GitHub then answers with a
// redirect to the default branch.
// https://docs.github.com/en/rest/branches/branches#get-a-branch
func (r *rest) wasDefault(ctx context.Context, branch string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if renamed, ok := r.renamed[branch]; ok || len(r.renamed) == maxBranches {
		return renamed, nil
	}
	in := r.get("look up whether a branch was renamed", "/branches/"+url.PathEscape(branch), 0)
	in.Redirect = http.StatusMovedPermanently
	got, err := r.c.Do(ctx, in)
	switch {
	case rpc.IsForbidden(err):
		return false, fmt.Errorf("%w: the memory has artifacts of the branch %q, and the job needs the permission `contents: read` to find out whether they count: %w", ErrDenied, branch, err)
	case err != nil && !rpc.IsNotFound(err):
		return false, err
	}
	_, to, _ := strings.Cut(got.Header.Get("Location"), "/branches/")
	to, _ = url.PathUnescape(to)
	r.renamed[branch] = got.Status == in.Redirect && to == r.trust.branch
	if r.renamed[branch] {
		r.log.Info("the memory of the branch's earlier name is used", "branch", r.trust.branch, "earlier", branch)
	}
	return r.renamed[branch], nil
}

// Recent implements [Reader].
func (r *rest) Recent(ctx context.Context, after int64) (list []Info, whole bool, err error) {
	list, whole, err = r.pages(ctx, "", maxAll, after)
	if err != nil {
		return nil, false, err
	}
	if err := r.rename(ctx, list); err != nil {
		r.log.Warn("artifacts of other branches are left out", "error", err.Error())
		return slices.DeleteFunc(list, func(info Info) bool { return info.WorkflowRun.HeadBranch != r.trust.branch }), false, nil
	}
	return list, whole, nil
}

// pages lists the artifacts with a name, or with any name if name is empty. It lists the newest
// first and stops at the id after.
func (r *rest) pages(ctx context.Context, name string, most int, after int64) (out []Info, whole bool, err error) {
	const what = "list the artifacts"
	for page := 1; page <= most; page++ {
		q := url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(page)}}
		if name != "" {
			q.Set("name", name)
		}
		got, err := r.c.Do(ctx, r.get(what, artifactsPath+"?"+q.Encode(), maxPage))
		if err != nil {
			return nil, false, permissionError(err)
		}
		var body struct {
			Artifacts *[]Info `json:"artifacts"`
		}
		if json.Unmarshal(got.Body, &body) != nil || body.Artifacts == nil {
			return nil, false, fmt.Errorf("%s: the answer is not the expected JSON", what)
		}
		out = append(out, *body.Artifacts...)
		if len(*body.Artifacts) < pageSize || slices.ContainsFunc(*body.Artifacts, func(i Info) bool { return i.ID <= after }) {
			return out, true, nil
		}
	}
	return out, false, nil
}

// Download implements [Reader]. The API answers with a redirect to a signed address,
// which is fetched without the token.
func (r *rest) Download(ctx context.Context, id int64, limit int) ([]byte, error) {
	const what = "download the artifact"
	to, err := r.locate(ctx, what, id)
	if err != nil {
		return nil, err
	}
	got, err := r.c.Do(ctx, rpc.Request{What: what, Method: http.MethodGet, To: to, Limit: limit})
	switch {
	case errors.Is(err, rpc.ErrTooLarge):
		return nil, ErrTooLarge
	case rpc.IsNotFound(err):
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	case err != nil:
		return nil, err
	}
	return got.Body, nil
}

// locate returns the signed address of a zip.
func (r *rest) locate(ctx context.Context, what string, id int64) (rpc.SignedURL, error) {
	in := r.get(what, fmt.Sprintf("%s/%d/zip", artifactsPath, id), 0)
	in.Redirect = http.StatusFound
	got, err := r.c.Do(ctx, in)
	switch {
	case rpc.IsNotFound(err):
		return rpc.SignedURL{}, fmt.Errorf("%w: %w", ErrGone, err)
	case err != nil:
		return rpc.SignedURL{}, permissionError(err)
	case got.Status != http.StatusFound:
		return rpc.SignedURL{}, fmt.Errorf("%s: HTTP status %d instead of a redirect", what, got.Status)
	}
	to, err := r.c.ParseSigned(got.Header.Get("Location"))
	if err != nil {
		return rpc.SignedURL{}, fmt.Errorf("%s: %w", what, err)
	}
	return to, nil
}

// artifactsPath is the path of the artifacts of a repository.
const artifactsPath = "/actions/artifacts"

// get returns a request; path follows that of the repository.
func (r *rest) get(what, path string, limit int) rpc.Request {
	return rpc.Request{What: what, Method: http.MethodGet, Path: r.repo + path, Limit: limit, Header: map[string]string{
		"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": r.api,
	}}
}

// permissionError adds the permission that is missing. For a private repository, GitHub answers
// "not found" if the permission is missing.
func permissionError(err error) error {
	if rpc.IsForbidden(err) || rpc.IsNotFound(err) {
		return fmt.Errorf("%w: the job needs the permission `actions: read`: %w", ErrDenied, err)
	}
	return err
}
