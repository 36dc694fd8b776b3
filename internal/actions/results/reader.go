package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Reader reads the artifacts of all runs of one repository. It is safe for
// concurrent use.
type Reader interface {
	// List returns the artifacts of a name, whoever made them, in any order. An error
	// for want of a permission is [ErrDenied] and names the permission.
	List(ctx context.Context, name string) ([]Info, error)
	// Download returns the zip of an artifact if it has at most limit bytes. Errors:
	// [ErrGone], [ErrTooLarge], ErrDenied, or one of the way there.
	Download(ctx context.Context, id int64, limit int) ([]byte, error)
}

// A Lister is a [Reader] that can look through the artifacts of all names. Without one
// no closings are found.
type Lister interface {
	// Recent returns those of the newest 2,000 artifacts whose names begin with a prefix,
	// in any order; whole is false when there are more than 2,000. Errors are those of
	// [Reader].List.
	Recent(ctx context.Context, prefix string) (list []Info, whole bool, err error)
}

// What a [Reader] may say of a zip besides; test with errors.Is.
var (
	// ErrGone says that the artifact expired or was deleted.
	ErrGone = errors.New("the artifact is gone")
	// ErrTooLarge says that the zip is larger than asked for.
	ErrTooLarge = errors.New("the artifact is too large")
)

// An Info is what the REST API says of an artifact; the fields that matter here, in
// its own spelling.
type Info struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Digest      string    `json:"digest"` // of the zip, "sha256:" and hexadecimal digits
	Expired     bool      `json:"expired"`
	CreatedAt   time.Time `json:"created_at"`
	WorkflowRun Run       `json:"workflow_run"`
}

// A Run is the run of a workflow that made an artifact. The run of a pull request
// from a fork belongs to our repository, and its head to the fork.
type Run struct {
	ID               int64  `json:"id"`
	RepositoryID     int64  `json:"repository_id"`
	HeadRepositoryID int64  `json:"head_repository_id"`
	HeadBranch       string `json:"head_branch"`
}

// The list is read in at most maxPages pages: more has a name only when somebody
// floods it.
const (
	pageSize = 100
	maxPages = 10
	maxAll   = 20      // pages of the list of all artifacts
	maxPage  = 4 << 20 // bytes
)

// rest is the [Reader] over the documented REST API.
type rest struct {
	c *client // base: the repository
}

func newREST(o Options) (*rest, error) {
	if o.APIURL == "" {
		return nil, errors.New("GITHUB_API_URL is not set")
	}
	c, err := connect(o, o.APIURL, "GITHUB_API_URL", o.Token)
	if err != nil {
		return nil, err
	}
	c.base += "/repos/" + o.Repo
	return &rest{c}, nil
}

// List implements [Reader].
func (r *rest) List(ctx context.Context, name string) ([]Info, error) {
	out, whole, err := r.pages(ctx, name, maxPages)
	if err == nil && !whole {
		r.c.log.Warn("only a part of the artifacts was listed", "name", name, "listed", len(out))
	}
	return out, err
}

// Recent implements [Lister].
func (r *rest) Recent(ctx context.Context, prefix string) (list []Info, whole bool, err error) {
	list, whole, err = r.pages(ctx, "", maxAll)
	return slices.DeleteFunc(list, func(i Info) bool { return !strings.HasPrefix(i.Name, prefix) }), whole, err
}

// pages lists the artifacts of a name, of any name when it is empty, newest first.
func (r *rest) pages(ctx context.Context, name string, most int) (out []Info, whole bool, err error) {
	const what = "list the artifacts"
	for page := 1; page <= most; page++ {
		q := url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(page)}}
		if name != "" {
			q.Set("name", name)
		}
		got, err := r.c.do(ctx, r.get(what, "/actions/artifacts?"+q.Encode(), maxPage))
		if err != nil {
			return nil, false, r.judge(err)
		}
		var body struct {
			Artifacts *[]Info `json:"artifacts"`
		}
		if json.Unmarshal(got.body, &body) != nil || body.Artifacts == nil {
			return nil, false, fmt.Errorf("%s: the answer is not the JSON that was expected", what)
		}
		out = append(out, *body.Artifacts...)
		if len(*body.Artifacts) < pageSize {
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
	got, err := r.c.do(ctx, call{what: what, method: http.MethodGet, url: to.url, limit: limit, secrets: to.secrets})
	switch {
	case errors.Is(err, errTooLarge):
		return nil, ErrTooLarge
	case absent(err):
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	case err != nil:
		return nil, err
	}
	return got.body, nil
}

// locate asks where a zip is.
func (r *rest) locate(ctx context.Context, what string, id int64) (signed, error) {
	ask := r.get(what, fmt.Sprintf("/actions/artifacts/%d/zip", id), 0)
	ask.redirects = true
	got, err := r.c.do(ctx, ask)
	switch {
	case absent(err):
		return signed{}, fmt.Errorf("%w: %w", ErrGone, err)
	case err != nil:
		return signed{}, r.judge(err)
	case got.status != http.StatusFound:
		return signed{}, fmt.Errorf("%s: HTTP status %d instead of a redirect", what, got.status)
	}
	to, err := r.c.signed(got.header.Get("Location"))
	if err != nil {
		return signed{}, fmt.Errorf("%s: %w", what, err)
	}
	return to, nil
}

func (r *rest) get(what, path string, limit int) call {
	header := r.c.authorised()
	header["Accept"] = "application/vnd.github+json"
	header["X-GitHub-Api-Version"] = "2022-11-28"
	return call{what: what, method: http.MethodGet, url: r.c.base + path, header: header, limit: limit}
}

// judge names the permission that an answer is about. A private repository answers
// that it is not there.
func (*rest) judge(err error) error {
	if forbidden(err) || absent(err) {
		return fmt.Errorf("%w: the job needs the permission `actions: read`: %w", ErrDenied, err)
	}
	return err
}
