package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// maxFile bounds a configuration file; GitHub's contents API gives no more either.
const maxFile = 1 << 20

// folder reads configuration below a directory. A symbolic link that leads out of
// it is not followed.
type folder struct{ dir string }

func (f folder) Read(_ context.Context, name string) ([]byte, error) {
	if filepath.IsAbs(name) {
		data, err := readFile(name, maxFile)
		return data, unreadable(err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, unreadable(err)
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	data, err := readAll(file, name, maxFile)
	return data, unreadable(err)
}

// unreadable makes an error of the file system a mistake of the user's, who named the
// file; that there is none stays recognisable.
func unreadable(err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return &usageError{err}
}

func (f folder) Glob(_ context.Context, pattern string) ([]string, error) {
	if filepath.IsAbs(pattern) {
		return filepath.Glob(pattern)
	}
	names, err := fs.Glob(os.DirFS(f.dir), pattern)
	slices.Sort(names)
	return names, err
}

// anywhere reads files that the user of the command line names: below the
// directory or not.
type anywhere struct{ dir string }

func (f anywhere) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.dir, filepath.FromSlash(name))
}

func (f anywhere) Read(_ context.Context, name string) ([]byte, error) {
	data, err := readFile(f.path(name), maxFile)
	return data, unreadable(err)
}

func (f anywhere) Glob(_ context.Context, pattern string) ([]string, error) {
	names, err := filepath.Glob(f.path(pattern))
	if err != nil || filepath.IsAbs(pattern) {
		return names, err
	}
	for i, name := range names {
		if names[i], err = filepath.Rel(f.dir, name); err != nil {
			return nil, err
		}
		names[i] = filepath.ToSlash(names[i])
	}
	return names, nil
}

// branch reads configuration from a repository, at its default branch or another ref.
type branch struct {
	client *github.Client
	github.Tree
}

func (b branch) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := b.client.File(ctx, b.Tree, name)
	if errors.Is(err, triage.ErrNotFound) && !errors.Is(err, github.ErrNoRef) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return data, err
}

func (b branch) Glob(ctx context.Context, pattern string) ([]string, error) {
	dir, last := path.Split(pattern)
	if strings.ContainsAny(dir, "*?[") {
		return nil, usagef("only the last part of a glob may hold wildcards when files are read from the repository: %s", pattern)
	}
	names, err := b.client.Dir(ctx, b.Tree, strings.TrimSuffix(dir, "/"))
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

// remote reads the file that a configuration extends. It is no call that --event makes
// needless, so it is made offline as well.
func (j job) remote(ctx context.Context, file config.RemoteFile) ([]byte, error) {
	j.offline = false
	client, err := j.host()
	if client == nil {
		return nil, cmp.Or(err, triage.ErrNeedsHost)
	}
	data, err := client.FileAt(ctx, file)
	if errors.Is(err, triage.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return data, err
}

// layered reads from the first place that has a file.
type layered []config.Files

func (l layered) Read(ctx context.Context, name string) ([]byte, error) {
	err := fs.ErrNotExist
	for _, files := range l {
		var data []byte
		if data, err = files.Read(ctx, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, err
}

func (l layered) Glob(ctx context.Context, pattern string) ([]string, error) {
	for _, files := range l {
		if names, err := files.Glob(ctx, pattern); err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, nil
}

// tokenless stands for a place that cannot be reached without a token.
type tokenless struct{}

func (tokenless) Read(_ context.Context, name string) ([]byte, error) {
	return nil, usagef("read %s from the repository: %w", name, triage.ErrNeedsHost)
}

func (tokenless) Glob(_ context.Context, pattern string) ([]string, error) {
	return nil, usagef("find %s in the repository: %w", pattern, triage.ErrNeedsHost)
}

func readFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, name, limit)
}

func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", name, limit)
	}
	return data, nil
}
