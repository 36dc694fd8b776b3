package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/org/foreman-action/memory"
)

// read returns the content of a file. It reads at most most+1 bytes, so that the caller can
// detect a file that is too large.
func read(root *os.Root, name string, most int64) ([]byte, error) {
	// Opening a pipe would block until another process opens it. A link is rejected, because the
	// store makes none.
	if info, err := root.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, broken(errors.New("it is not a regular file"))
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// setAside renames a broken file, or another object that has the name of a record or a ledger.
// format is the new name, with %s for a hash of the content, so that the same broken file is kept
// only once. If the object is not a file, or if the new name is taken by another object, %s is
// random.
func setAside(root *os.Root, name, format string) error {
	data, err := read(root, name, memory.MaxLedger)
	if err != nil && !errors.Is(err, memory.ErrBroken) {
		return err
	}
	sum := sha256.Sum256(data)
	aside := fmt.Sprintf(format, hex.EncodeToString(sum[:6]))
	info, taken := root.Lstat(aside)
	if err != nil || taken == nil && !info.Mode().IsRegular() {
		aside = fmt.Sprintf(format, strings.ToLower(rand.Text()))
	}
	return root.Rename(name, aside)
}

// replace writes a file atomically: at any moment the file has the complete old content or the
// complete new one, even after a crash of the machine. The caller holds the lock.
func replace(root *os.Root, name string, data []byte) error {
	dir := path.Dir(name)
	if err := makeDir(root, dir); err != nil {
		return err
	}
	// The temporary name is fixed, so that the next call overwrites the file that a killed
	// process left.
	temp := name + ".tmp"
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return syncDir(root, dir)
}

// makeDir creates a directory and its parents, durably.
func makeDir(root *os.Root, dir string) error {
	if _, err := root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := syncDir(root, dir); err != nil {
			return err
		}
	}
	return nil
}

// appendTo appends data to a file, durably. The caller holds the lock.
func appendTo(root *os.Root, name string, data []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

// broken returns err as an ErrBroken.
func broken(err error) error { return fmt.Errorf("%w: %w", memory.ErrBroken, err) }
