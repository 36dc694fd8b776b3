package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/triage"
)

// maxFile is what the contents API gives inline, in bytes.
const maxFile = 1 << 20

// A Tree is where files are: a repository at a branch, a tag or a commit. An empty Ref
// is the default branch.
type Tree struct{ Owner, Repo, Ref string }

// ErrNoRef says that a repository has no such branch, tag or commit.
var ErrNoRef = errors.New("no such ref")

// File returns a file, at most 1 MiB. ErrNotFound when it is not there (or the token
// sees no code), with ErrNoRef when the ref is not; a directory or a larger file is an
// error.
func (c *Client) File(ctx context.Context, t Tree, path string) ([]byte, error) {
	return c.file(ctx, contentsOp("read", "file", t, path), t.Ref, path)
}

// commit is what GitHub takes for the name of a commit, and commitDigits are all of one.
var commit = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

const commitDigits = 40

// FileAt is [Client.File] for a tag or a commit. A branch is ErrNotFound: the next
// push would change the file. So is a branch or a tag whose name looks like the first
// digits of a commit; a tag like that is written "refs/tags/…".
func (c *Client) FileAt(ctx context.Context, f config.RemoteFile) ([]byte, error) {
	ref := f.Ref
	switch {
	case !commit.MatchString(ref):
		ref = "refs/tags/" + strings.TrimPrefix(ref, "refs/tags/")
	case len(ref) < commitDigits:
		full, err := c.fullCommit(ctx, f)
		if err != nil {
			return nil, err
		}
		ref = full
	}
	return c.file(ctx, contentsOp("read", "file", Tree{f.Owner, f.Repo, f.Ref}, f.Path), ref, f.Path)
}

// fullCommit returns all digits of a commit. GitHub takes a branch or a tag of that name
// first, whose commit begins with other digits.
func (c *Client) fullCommit(ctx context.Context, f config.RemoteFile) (string, error) {
	o := op{
		what: "look up commit " + f.Ref + " of", ref: triage.Ref{Owner: f.Owner, Repo: f.Repo}, wide: true,
		need: needContentsRead, absent: triage.ErrNotFound,
	}
	var answer struct {
		SHA string `json:"sha"`
	}
	err := c.request(ctx, o, call{http.MethodGet, fmt.Sprintf("repos/%s/%s/commits/%s?per_page=1", f.Owner, f.Repo, f.Ref), nil, &answer})
	if a, ok := errors.AsType[*answerError](err); ok && a.status == http.StatusUnprocessableEntity {
		return "", fmt.Errorf("%w: %w", triage.ErrNotFound, err)
	}
	if err != nil {
		return "", err
	}
	if len(answer.SHA) != commitDigits || !commit.MatchString(answer.SHA) || !strings.HasPrefix(answer.SHA, f.Ref) {
		return "", fmt.Errorf("%s: %w: GitHub answers with a branch or a tag of that name", o, triage.ErrNotFound)
	}
	return answer.SHA, nil
}

// file returns the content of a file.
func (c *Client) file(ctx context.Context, o op, ref, path string) ([]byte, error) {
	raw, err := c.contents(ctx, o, ref, path)
	if err != nil {
		return nil, err
	}
	data, err := fileContent(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, &ContentError{err})
	}
	return data, nil
}

// Dir returns the paths of the files that lie directly in a directory, sorted; "" is
// the root. Errors are as for [Client.File]. GitHub lists at most 1,000 entries.
func (c *Client) Dir(ctx context.Context, t Tree, path string) ([]string, error) {
	o := contentsOp("list", "directory", t, path)
	raw, err := c.contents(ctx, o, t.Ref, path)
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

// A ContentError says that what is under a path is not what was asked for: no file, no
// directory, or larger than is given.
type ContentError struct{ Err error }

// Error says what there is.
func (e *ContentError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ContentError) Unwrap() error { return e.Err }

// contentsOp is reading a file or listing a directory.
func contentsOp(verb, thing string, t Tree, path string) op {
	if t.Ref != "" {
		verb += " at " + clip(t.Ref, 200)
	}
	return op{
		what: fmt.Sprintf("%s %s %q of", verb, thing, clip(path, 200)), ref: triage.Ref{Owner: t.Owner, Repo: t.Repo}, wide: true,
		need: needContentsRead, absent: triage.ErrNotFound,
	}
}

func (c *Client) contents(ctx context.Context, o op, ref, path string) (json.RawMessage, error) {
	escaped, err := escapePath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	var raw json.RawMessage
	target := fmt.Sprintf("repos/%s/%s/contents/%s", o.ref.Owner, o.ref.Repo, escaped)
	if ref != "" {
		target += "?ref=" + url.QueryEscape(ref)
	}
	err = c.request(ctx, o, call{http.MethodGet, target, nil, &raw})
	if a, ok := errors.AsType[*answerError](err); ok && ref != "" && strings.HasPrefix(a.message, "No commit found") {
		err = fmt.Errorf("%w: %w", ErrNoRef, err)
	}
	return raw, err
}

// escapePath escapes each segment of a path below a repository's root.
func escapePath(path string) (string, error) {
	path = strings.Trim(path, "/")
	if path == "" {
		return "", nil
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if !segment(s) {
			return "", errors.New("the path has an empty, '.' or '..' part")
		}
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), nil
}

// fileContent decodes the contents API's description of a file.
func fileContent(raw json.RawMessage) ([]byte, error) {
	var file struct {
		Type, Encoding, Content string
		Size                    int64
	}
	if len(raw) > 0 && raw[0] == '[' {
		return nil, errors.New("it is a directory")
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("decode the answer: %w", err)
	}
	switch {
	case file.Type != "file":
		return nil, fmt.Errorf("it is a %s, not a file", clip(file.Type, 20))
	case file.Size > maxFile:
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", file.Size, maxFile)
	case file.Encoding != "base64":
		return nil, fmt.Errorf("unknown encoding %q", clip(file.Encoding, 20))
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("decode the content: %w", err)
	}
	return data, nil
}
