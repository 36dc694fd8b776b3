package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// Replace replaces a file atomically: it writes a temporary file beside it, and renames that.
func Replace(path string, data []byte, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".foreman-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Create creates a file atomically. Without force it does not change an existing file.
func Create(name string, data []byte, force bool) error {
	temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // the umask decides, as for any file of a repository
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // after a rename, there is no temporary file
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if !force {
		// Unlike a rename, a link fails if another process created the file in the meantime.
		if err := os.Link(temp, name); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(temp, name)
}

// Deliver writes a text to standard output, or atomically to a file. The name is that of the file, as by
// [process.OutputFile]; empty: standard output. what the text is appears in errors.
func Deliver(env process.Env, what, name, text string) error {
	if name == "" {
		return env.Print(text)
	}
	path := env.Path(name)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = os.WriteFile(path, []byte(text), 0o600) // a rename would replace the device or pipe
	} else {
		err = Replace(path, []byte(text), 0o644)
	}
	if err != nil {
		return command.Failed(fmt.Errorf("write the %s to %s: %w", what, name, err))
	}
	return nil
}
