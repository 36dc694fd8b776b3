// Package files reads the files of a command: inside one folder, anywhere, or from the first of
// several places that has the file. It also replaces files atomically.
package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// MaxSize bounds a configuration file, in bytes. GitHub's contents API has the same limit.
const MaxSize = 1 << 20

// MaxEvent bounds an event's payload, in bytes. GitHub's limit for webhooks is 25 MB.
const MaxEvent = 32 << 20

// A Folder reads configuration only below a directory: absolute paths elsewhere and symbolic
// links that lead out of it are refused.
type Folder struct{ Dir string }

// Read returns the content of a file. The error matches fs.ErrNotExist if the file does not
// exist.
func (f Folder) Read(_ context.Context, name string) ([]byte, error) {
	name, err := f.within(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, Unreadable(err)
	}
	defer root.Close()
	// Without O_NONBLOCK opening a named pipe waits for a writer.
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Unreadable(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, command.Usage(cmp.Or(err, fmt.Errorf("read %s: it is not a regular file", name)))
	}
	data, err := ReadAll(file, name, MaxSize)
	return data, Unreadable(err)
}

// Unreadable marks an error of the file system as a mistake of the user, who named the file. A
// missing file still matches fs.ErrNotExist.
func Unreadable(err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return command.Usage(err)
}

// Glob returns the files that match a pattern, in order.
func (f Folder) Glob(_ context.Context, pattern string) ([]string, error) {
	pattern, err := f.within(pattern)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(os.DirFS(f.Dir), pattern)
	slices.Sort(names)
	return names, err
}

// within returns an absolute path relative to the directory.
func (f Folder) within(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return name, nil
	}
	rel, err := filepath.Rel(f.Dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", command.Usagef("read %s: it is outside %s; name a file below it by a relative path", name, f.Dir)
	}
	return filepath.ToSlash(rel), nil
}

// Anywhere reads files that the user of the command line names, inside or outside Dir. Relative
// names start from Dir.
type Anywhere struct{ Dir string }

// Read returns the content of a file. The error matches fs.ErrNotExist if the file does not
// exist.
func (f Anywhere) Read(_ context.Context, name string) ([]byte, error) {
	file := process.Below(f.Dir, name)
	// A named pipe would block, also behind a link. An absolute name may lead to one on purpose, such as
	// /dev/stdin.
	if info, err := os.Stat(file); err == nil && !filepath.IsAbs(name) && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
		return nil, command.Usagef("read %s: it is not a regular file", name)
	}
	data, err := Read(file, MaxSize)
	return data, Unreadable(err)
}

// Glob returns the files that match a pattern, in order.
func (f Anywhere) Glob(_ context.Context, pattern string) ([]string, error) {
	names, err := filepath.Glob(process.Below(f.Dir, pattern))
	if err != nil || filepath.IsAbs(pattern) {
		return names, err
	}
	for i, name := range names {
		if names[i], err = filepath.Rel(f.Dir, name); err != nil {
			return nil, err
		}
		names[i] = filepath.ToSlash(names[i])
	}
	return names, nil
}

// Layered reads from the first place that has a file.
type Layered []config.Files

// Read returns the content of a file. The error matches fs.ErrNotExist if the file does not
// exist.
func (l Layered) Read(ctx context.Context, name string) ([]byte, error) {
	err := fs.ErrNotExist
	for _, files := range l {
		var data []byte
		if data, err = files.Read(ctx, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, err
}

// Glob returns the files that match a pattern, in order.
func (l Layered) Glob(ctx context.Context, pattern string) ([]string, error) {
	for _, files := range l {
		if names, err := files.Glob(ctx, pattern); err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, nil
}

// Read reads a whole file of at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadAll(file, name, limit)
}

// ReadAll reads a stream of at most limit bytes to its end. The name is for the error.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", name, limit)
	}
	return data, nil
}
