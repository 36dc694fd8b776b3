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
	"syscall"
	"time"
)

// A packer writes a workspace as a tar archive. It uses GNU's format, because GNU tar and busybox
// can read it with names of any length and any bytes.
type packer struct {
	tar         *tar.Writer
	left, limit int64
	folders     map[string]bool // folders that are already in the archive
}

// ownerID is the ID of the user and of the group that own the files in the workspace and run the
// commands.
const ownerID = 1000

func (p *packer) pack(dir string, files []string, history string) error {
	from, err := openTree(dir)
	if err != nil {
		return err
	}
	defer from.root.Close()
	for _, folder := range []string{workspacePath[1:], cachePath[1:], cachePath[1:] + "/home"} {
		if err := p.folder(folder); err != nil {
			return err
		}
	}
	// Links come last, so that tar never writes a file through a link.
	var links []string
	for _, name := range files {
		link, err := p.file(from, name, workspacePath[1:]+"/"+name)
		if err != nil {
			return err
		}
		if link {
			links = append(links, name)
		}
	}
	if history != "" {
		if err := p.tree(filepath.Join(history, ".git"), workspacePath[1:]+"/.git"); err != nil {
			return err
		}
	}
	for _, name := range links {
		if err := p.link(from, name, workspacePath[1:]+"/"+name); err != nil {
			return err
		}
	}
	return p.tar.Close()
}

// tree writes all files below a directory.
func (p *packer) tree(dir, as string) error {
	from, err := openTree(dir)
	if err != nil {
		return err
	}
	defer from.root.Close()
	return fs.WalkDir(from.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return p.folder(path.Join(as, name))
		}
		_, err = p.file(from, name, as+"/"+name)
		return err
	})
}

// folder writes a folder, unless the archive already has it.
func (p *packer) folder(name string) error {
	if p.folders[name] {
		return nil
	}
	p.folders[name] = true
	return p.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
}

// above writes the folders above a file. Without them, tar would make the folders as root.
func (p *packer) above(name string) error {
	folder := path.Dir(name)
	if folder == "." || p.folders[folder] {
		return nil
	}
	if err := p.above(folder); err != nil {
		return err
	}
	return p.folder(folder)
}

// file writes a regular file. If the path is a link, it writes nothing and reports true. A file
// that no longer exists is skipped.
func (p *packer) file(from *tree, name, as string) (link bool, err error) {
	info, err := from.lstat(name)
	switch {
	case info == nil || err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return true, nil
	case info.IsDir():
		return false, fmt.Errorf("%q: %w", name, ErrChanged)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%q is %s; only files, folders and links can be copied", name, kind(info.Mode()))
	case info.Size() > p.left:
		return false, tooLarge(name, info.Size(), p.limit)
	}
	p.left -= info.Size()
	if err := p.above(as); err != nil {
		return false, err
	}
	// If a named pipe has replaced the file meanwhile, O_NONBLOCK keeps the open from waiting for a
	// writer.
	file, err := from.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) || opened.Size() != info.Size() {
		return false, errors.Join(err, fmt.Errorf("%q: %w", name, ErrChanged))
	}
	err = p.header(&tar.Header{Typeflag: tar.TypeReg, Name: as, Size: info.Size(), Mode: int64(info.Mode().Perm() | 0o600), ModTime: info.ModTime()})
	if err != nil {
		return false, err
	}
	if n, err := io.Copy(p.tar, io.LimitReader(file, info.Size())); err != nil {
		return false, err
	} else if n < info.Size() {
		return false, fmt.Errorf("%q: %w", name, ErrChanged)
	}
	after, err := file.Stat()
	if err == nil && (after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime())) {
		err = fmt.Errorf("%q: %w", name, ErrChanged)
	}
	return false, err
}

// kind names the type of a file that is neither a regular file nor a folder nor a link.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// link writes a symbolic link.
func (p *packer) link(from *tree, name, as string) error {
	target, err := from.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("%q: %w", name, errors.Join(ErrChanged, err))
	}
	if err := p.above(as); err != nil {
		return err
	}
	return p.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: as, Linkname: target, Mode: 0o777})
}

func (p *packer) header(h *tar.Header) error {
	h.Format, h.Uid, h.Gid = tar.FormatGNU, ownerID, ownerID
	if h.ModTime.IsZero() || h.ModTime.Before(time.Unix(0, 0)) {
		h.ModTime = time.Unix(0, 0)
	}
	return p.tar.WriteHeader(h)
}
