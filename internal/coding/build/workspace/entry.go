package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// An entry is the state of a file, a folder or a link. A nil entry means that it does not exist.
type entry struct {
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size,omitempty"` // of a regular file
	Data []byte      `json:"data,omitempty"` // content of a regular file, or target of a link
}

func (e *entry) equal(other *entry) bool {
	if e == nil || other == nil {
		return e == other
	}
	return e.Mode == other.Mode && e.Size == other.Size && bytes.Equal(e.Data, other.Data)
}

// read returns the entry of a name. It does not follow a link at the end of the name, and never
// leaves the root. The entry of a file with more than limit bytes has no content.
func read(root *os.Root, name string, limit int64) (*entry, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err != nil && belowNoFolder(root, name) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &entry{Mode: info.Mode()}
	switch {
	case e.Mode.IsRegular():
		if e.Size = info.Size(); e.Size <= limit {
			e.Data, err = root.ReadFile(name)
		}
	case e.Mode&fs.ModeSymlink != 0:
		var target string
		target, err = root.Readlink(name)
		e.Data = []byte(target)
	}
	return e, err
}

// belowNoFolder reports whether an element above a name is a file or a link instead of a folder. A
// link may lead out of the root.
func belowNoFolder(root *os.Root, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// restore puts an entry back at a name; nil removes the name. It does not create devices and
// pipes.
func restore(root *os.Root, name string, e *entry) error {
	if e != nil && e.Mode.IsDir() {
		if now, err := root.Lstat(name); err == nil && now.IsDir() {
			return root.Chmod(name, e.Mode.Perm())
		}
	}
	unlock(root, path.Dir(name))
	if err := removeAll(root, name); err != nil || e == nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch {
	case e.Mode.IsDir():
		return root.Mkdir(name, e.Mode.Perm())
	case e.Mode&fs.ModeSymlink != 0:
		return root.Symlink(string(e.Data), name)
	case !e.Mode.IsRegular():
		return nil
	}
	if err := root.WriteFile(name, e.Data, 0o600); err != nil {
		return err
	}
	return root.Chmod(name, e.Mode.Perm())
}

// unlock lets this user read and change a folder.
func unlock(root *os.Root, name string) {
	const all = 0o700
	if info, err := root.Lstat(name); err == nil && info.IsDir() && info.Mode()&all != all {
		_ = root.Chmod(name, info.Mode().Perm()|all) // if it fails, so does what follows
	}
}

// TooDeep reports whether a path below a clone has so many folders that only an attack makes it. To walk a
// hundred thousand of them takes hours and gigabytes.
func TooDeep(name string) bool {
	const most = 1000 // git and most programs fail at 4096 bytes of a path
	return strings.Count(name, "/") > most
}

// removeAll removes a file or folder, even if folders have no write permission.
func removeAll(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if err == nil || belowNoFolder(root, name) {
		return nil
	}
	unlock(root, path.Dir(name))
	walkErr := fs.WalkDir(root.FS(), name, func(below string, d fs.DirEntry, _ error) error {
		if TooDeep(below) {
			return fs.SkipDir
		}
		if d != nil && d.IsDir() {
			unlock(root, below)
		}
		return nil // the next RemoveAll reports the errors
	})
	if err := root.RemoveAll(name); err != nil {
		return errors.Join(err, walkErr)
	}
	return nil
}
