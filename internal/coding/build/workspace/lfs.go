package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// objectsLFS is the folder in a git folder in which Git LFS stores the contents of files. A file has the
// SHA-256 of its content as its name.
const objectsLFS = "lfs/objects"

// copyLFS copies the contents that Git LFS has stored below a folder, and that the folder to lacks. An
// agent may have written them, so it leaves out every file whose name is not its hash.
func copyLFS(from fs.FS, dir, to string) error {
	var size int64
	return fs.WalkDir(from, dir, func(name string, d fs.DirEntry, err error) error {
		hash := filepath.Base(name)
		if TooDeep(name) {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || len(hash) != hex.EncodedLen(sha256.Size) {
			return nil //nolint:nilerr // there are none, or they cannot be read
		}
		target := filepath.Join(to, hash[:2], hash[2:4], hash)
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		if size > maxObjects {
			return &UnfitError{fmt.Errorf("new files of Git LFS have more than %d GB", maxObjects>>30)}
		}
		return copyHashed(from, name, hash, target)
	})
}

// copyHashed copies a file if its content has a hash.
func copyHashed(from fs.FS, name, hash, target string) error {
	in, err := from.Open(name)
	if err != nil {
		return nil // as above
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(target), "foreman-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // fails after the rename
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Close()); err != nil || hex.EncodeToString(sum.Sum(nil)) != hash {
		return err
	}
	return os.Rename(out.Name(), target)
}
