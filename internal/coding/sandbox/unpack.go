package sandbox

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits for copying files out.
const (
	maxEntries = 1 << 20   // files, folders and links
	maxName    = 4095      // bytes of a path; git cannot read a longer one
	maxNames   = 256 << 20 // bytes of all paths and targets of links, which are kept in memory
)

// An unpacker writes an archive into a directory.
type unpacker struct {
	root  *os.Root
	limit int64
	left  int64             // bytes that may still be written
	names int64             // bytes of names that may still be read
	links map[string]string // the target of each link, by the link's name

	skipped map[string]bool // the names of devices and pipes
}

// unpack writes the files, folders and links of a tar archive into a directory, at most limit
// bytes. It skips every .git folder. It returns an error if a name leads out of the directory or
// occurs twice.
func unpack(archive io.Reader, root *os.Root, limit int64) error {
	u := &unpacker{root: root, limit: limit, left: limit, names: min(limit, maxNames), links: map[string]string{}, skipped: map[string]bool{}}
	reader := tar.NewReader(archive)
	for entries := 0; ; entries++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if entries == maxEntries {
			return fmt.Errorf("%w: it has more than %d files", ErrTooLarge, maxEntries)
		}
		if err := u.entry(header, reader); err != nil {
			return err
		}
	}
	// Links come last, so that no file is written through one.
	for name, target := range u.links {
		file := filepath.FromSlash(name)
		if err := errors.Join(root.MkdirAll(filepath.Dir(file), 0o755), root.Symlink(target, file)); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	name, err := local(header.Name)
	if err != nil {
		return err
	}
	if ofGit(name) {
		return nil
	}
	if len(name) > maxName {
		return fmt.Errorf("%w: the path %.40q… has more than %d bytes", ErrTooLarge, name, maxName)
	}
	if u.names -= int64(len(name) + len(header.Linkname)); u.names < 0 {
		return fmt.Errorf("%w: the file names alone exceed the limit of %d bytes", ErrTooLarge, min(u.limit, maxNames))
	}
	mode := fs.FileMode(header.Mode)&0o777 | 0o600 //nolint:gosec // of the number only nine bits count
	switch header.Typeflag {
	case tar.TypeDir:
		return u.root.MkdirAll(filepath.FromSlash(name), 0o755)
	case tar.TypeReg:
		return u.file(name, mode, header.ModTime, content)
	case tar.TypeLink:
		return u.hardLink(name, header.Linkname)
	case tar.TypeSymlink:
		if _, ok := u.links[name]; ok {
			return fmt.Errorf("the archive contains the name %q twice", name)
		}
		u.links[name] = header.Linkname
	default:
		u.skipped[name] = true
	}
	return nil
}

// ofGit reports whether a path contains an element .git, at any depth. Such folders are dangerous
// because git runs programs that a repository's configuration names, also of a repository inside
// another one.
func ofGit(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// local returns a name without "." and ".." parts. A name that leads out of the directory is an
// error.
func local(name string) (string, error) {
	clean := path.Clean(name)
	if !filepath.IsLocal(filepath.FromSlash(clean)) || strings.ContainsRune(clean, 0) {
		return "", fmt.Errorf("the archive contains the name %q, which leads out of the directory", name)
	}
	return clean, nil
}

// file writes a new file.
func (u *unpacker) file(name string, mode fs.FileMode, modified time.Time, content io.Reader) error {
	file := filepath.FromSlash(name)
	if err := u.root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	target, err := u.root.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(target, io.LimitReader(content, u.left+1))
	// The umask may have removed permissions of the file.
	if err := errors.Join(err, target.Chmod(mode), target.Close(), u.root.Chtimes(file, modified, modified)); err != nil {
		return err
	}
	if u.left -= n; u.left < 0 {
		return fmt.Errorf("%w: with the file %q, it exceeds the limit of %d bytes", ErrTooLarge, name, u.limit)
	}
	return nil
}

// hardLink writes a hard link as a copy of the file to which it leads.
func (u *unpacker) hardLink(name, to string) error {
	target, err := local(to)
	if err != nil {
		return err
	}
	if ofGit(target) || u.skipped[target] {
		return nil // the original was skipped, so the link is skipped, too
	}
	if to, ok := u.links[target]; ok {
		if _, twice := u.links[name]; twice {
			return fmt.Errorf("the archive contains the name %q twice", name)
		}
		u.links[name] = to
		return nil
	}
	original, err := u.root.Open(filepath.FromSlash(target))
	if err != nil {
		return err
	}
	defer original.Close()
	info, err := original.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("the archive contains a link to %q, which is not a file", to)
	}
	return u.file(name, info.Mode().Perm(), info.ModTime(), original)
}
