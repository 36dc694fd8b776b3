// Package workdir reads and writes files in the working directory of an agent. No name and no link
// can lead out of the directory, even during concurrent changes.
package workdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The reasons why a file is not read or written, besides [fs.ErrNotExist] and
// [fs.ErrExist].
var (
	ErrEscape   = errors.New("it is outside the working directory")
	ErrTooLarge = errors.New("it is too large")
	ErrNoFile   = errors.New("it is not a regular file")
)

// A gitError is the [ErrEscape] for a file in a folder .git, which is inside the directory.
type gitError struct{}

// Error returns the reason.
func (gitError) Error() string { return "files in .git cannot be written" }

// Is reports whether target is [ErrEscape].
func (gitError) Is(target error) bool { return target == ErrEscape }

// A Dir is a directory, given by its path.
type Dir string

// Read returns the content of a regular file of at most limit bytes. It follows links within the
// directory, unless their target is absolute.
func (d Dir) Read(name string, limit int64) ([]byte, error) {
	var data []byte
	err := d.open(name, func(file *os.File) (err error) {
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
		if err == nil && int64(len(data)) > limit {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ReadEnd is like [Dir.Read], but returns the last limit bytes of a larger file.
func (d Dir) ReadEnd(name string, limit int64) ([]byte, error) {
	var data []byte
	err := d.open(name, func(file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if _, err := file.Seek(max(0, info.Size()-limit), io.SeekStart); err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(file, limit))
		return err
	})
	return data, err
}

// open calls f with a regular file.
func (d Dir) open(name string, f func(file *os.File) error) error {
	err := d.in(name, func(root *os.Root, name string) error {
		// Without O_NONBLOCK opening a named pipe waits for a writer.
		file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := regular(file.Stat()); err != nil {
			return err
		}
		return f(file)
	})
	if errors.Is(err, syscall.ENOTDIR) { // a part of the path is a file, not a folder
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// Write creates or replaces a regular file atomically, and creates the folders above it. A replaced
// file keeps its permissions.
func (d Dir) Write(name string, data []byte) error { return d.replace(name, data, 0o666) } // the umask decides

// WritePrivate is like [Dir.Write], but only the owner can read a new file. A replaced file keeps
// its permissions.
func (d Dir) WritePrivate(name string, data []byte) error { return d.replace(name, data, 0o600) }

func (d Dir) replace(name string, data []byte, mode fs.FileMode) error {
	return d.in(name, func(root *os.Root, name string) error {
		if inGit(name) {
			return gitError{}
		}
		old, err := replaceable(root, name)
		if err != nil {
			return err
		}
		folder := filepath.Dir(name)
		if err := root.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		temp := tempName(folder)
		if err := create(root, temp, data, mode); err != nil {
			return err
		}
		if old != nil {
			err = root.Chmod(temp, old.Mode().Perm())
		}
		if err == nil {
			err = root.Rename(temp, name)
		}
		if err != nil {
			return errors.Join(err, root.Remove(temp))
		}
		return nil
	})
}

// Create writes a new file, and creates the folders above it. The error is [fs.ErrExist] if the
// name exists, even as a dangling link. Where the file system has hard links, the file appears with
// all of its content.
func (d Dir) Create(name string, data []byte) error {
	return d.in(name, func(root *os.Root, name string) error {
		folder := filepath.Dir(name)
		if err := root.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		temp := tempName(folder)
		if err := create(root, temp, data, 0o666); err != nil {
			return err
		}
		err := root.Link(temp, name) // unlike a rename, it replaces no file
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = create(root, name, data, 0o666)
		}
		return errors.Join(err, root.Remove(temp))
	})
}

func tempName(folder string) string { return filepath.Join(folder, ".foreman-"+rand.Text()+".tmp") }

// Remove removes a file. For a link, it does not remove the target.
func (d Dir) Remove(name string) error {
	return d.in(name, func(root *os.Root, name string) error { return root.Remove(name) })
}

// create writes a new file, which must not exist. If it fails, it leaves no file.
func create(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// in calls f with the directory and the cleaned name of a file in it.
func (d Dir) in(name string, f func(root *os.Root, name string) error) error {
	clean := filepath.Clean(filepath.FromSlash(name))
	if !filepath.IsLocal(clean) {
		return ErrEscape
	}
	if strings.HasSuffix(name, "/") { // the name of a folder
		return ErrNoFile
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	err = f(root, clean)
	switch _, escape := root.Lstat(".."); {
	case err == nil:
		return nil
	case errors.Is(err, errors.Unwrap(escape)): // package os does not export this error
		return ErrEscape
	}
	return err
}

// replaceable returns the existing regular file with a name; nil: no such file.
func replaceable(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err // for example, a link leads out of the directory
		}
		return nil, fmt.Errorf("%w: it is a symbolic link", ErrNoFile)
	}
	return info, regular(info, err)
}

func regular(info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return ErrNoFile
	}
	return err
}

// inGit reports whether a part of a path is ".git" in any case, because some file systems ignore
// case.
func inGit(name string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}
