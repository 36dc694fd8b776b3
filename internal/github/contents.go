package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Tree is a repository at a branch, a tag or a commit. An empty Ref is the default branch.
type Tree struct{ Owner, Repo, Ref string }

// ErrNoRef means that a repository has no such branch, tag or commit.
var ErrNoRef = errors.New("no such ref")

// commit matches the names that GitHub accepts for a commit: the first 7 to 40 digits of its hash.
// A full hash has commitDigits digits.
var commit = text.Regexp(`^[0-9a-f]{7,40}$`)

const commitDigits = 40

// fullCommit returns the full hash of a commit. GitHub prefers a branch or a tag of the same name,
// whose commit has other first digits; fullCommit then returns ErrNotFound.
func fullCommit(ctx context.Context, c *rest.Caller, f config.RemoteFile) (string, error) {
	o := rest.InRepository("look up commit "+f.Ref+" of", f.Owner, f.Repo, rest.NeedContentsRead)
	var answer struct {
		SHA string `json:"sha"`
	}
	path := fmt.Sprintf("repos/%s/%s/commits/%s?per_page=1", f.Owner, f.Repo, f.Ref)
	_, err := c.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &answer})
	if rest.StatusOf(err) == http.StatusUnprocessableEntity {
		return "", fmt.Errorf("%w: %w", triage.ErrNotFound, err)
	}
	if err != nil {
		return "", err
	}
	if len(answer.SHA) != commitDigits || !commit().MatchString(answer.SHA) || !strings.HasPrefix(answer.SHA, f.Ref) {
		return "", fmt.Errorf("%s: %w: GitHub answers with a branch or a tag of that name", o, triage.ErrNotFound)
	}
	return answer.SHA, nil
}

// file returns the content of a file.
func file(ctx context.Context, c *rest.Caller, o rest.Op, ref, path string) ([]byte, error) {
	raw, err := contents(ctx, c, o, ref, path)
	if err != nil {
		return nil, err
	}
	data, err := rest.FileContent(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, &ContentError{err})
	}
	return data, nil
}

// A ContentError means that a path has unexpected content. It is not a file, not a directory, or
// larger than GitHub returns.
type ContentError struct{ Err error }

// Error returns the text of the cause.
func (e *ContentError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ContentError) Unwrap() error { return e.Err }

// contentsOp returns the operation of reading a file or listing a directory.
func contentsOp(verb, thing string, t Tree, path string) rest.Op {
	if t.Ref != "" {
		verb += " at " + rest.Clip(t.Ref, 200)
	}
	what := fmt.Sprintf("%s %s %q of", verb, thing, rest.Clip(path, 200))
	return rest.InRepository(what, t.Owner, t.Repo, rest.NeedContentsRead)
}

func contents(ctx context.Context, c *rest.Caller, o rest.Op, ref, path string) (json.RawMessage, error) {
	escaped, err := rest.EscapePath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	var raw json.RawMessage
	target := fmt.Sprintf("repos/%s/%s/contents/%s", o.Ref.Owner, o.Ref.Repo, escaped)
	if ref != "" {
		target += "?ref=" + url.QueryEscape(ref)
	}
	_, err = c.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: target, Out: &raw})
	if a, ok := errors.AsType[*rest.AnswerError](err); ok && ref != "" && strings.HasPrefix(a.Message, "No commit found") {
		err = fmt.Errorf("%w: %w", ErrNoRef, err)
	}
	return raw, err
}
