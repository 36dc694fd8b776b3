package github

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/triage"
)

var _ config.Files = Branch{}

// A Branch reads configuration from a repository, at its default branch or another ref. It
// implements [config.Files].
type Branch struct {
	Client *Client
	Tree   Tree
}

// Read returns the content of a file. The error matches fs.ErrNotExist if the file does not exist. It
// is a ContentError if the path is not a file, or the file is too large.
func (b Branch) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := b.Client.File(ctx, b.Tree, name)
	if errors.Is(err, triage.ErrNotFound) && !errors.Is(err, ErrNoRef) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return data, err
}

// Glob returns the files that match a pattern; only its last part may contain wildcards, otherwise
// the error is a ContentError.
func (b Branch) Glob(ctx context.Context, pattern string) ([]string, error) {
	dir, last := path.Split(pattern)
	if strings.ContainsAny(dir, "*?[") {
		return nil, &ContentError{fmt.Errorf("only the last part of a glob may contain wildcards when files are read from the repository: %s", pattern)}
	}
	names, err := b.Client.Dir(ctx, b.Tree, strings.TrimSuffix(dir, "/"))
	if errors.Is(err, triage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		ok, err := path.Match(last, path.Base(name))
		return err != nil || !ok
	}), nil
}
