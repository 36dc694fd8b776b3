package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/org/foreman-action/queue"
)

// damage reports whether an error means that the file is not a sound database.
func damage(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code()&0xff == lib.SQLITE_CORRUPT || e.Code()&0xff == lib.SQLITE_NOTADB)
}

// locked reports whether an error means that another process has the file locked.
func locked(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code()&0xff == lib.SQLITE_BUSY
}

// medium wraps an error of the medium in queue.ErrUnavailable: the error may be temporary, and
// nothing was changed.
func medium(err error) error {
	var code int
	if e, ok := errors.AsType[*driver.Error](err); ok {
		code = e.Code()
	}
	switch code & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL, lib.SQLITE_READONLY, lib.SQLITE_NOMEM:
		return fmt.Errorf("%w: %w", queue.ErrUnavailable, err)
	}
	return err
}

// denied adds to an error of opening a file what the user may not write, and the remedy. Other errors
// stay as they are.
func denied(err error, path string) error {
	code := 0
	if e, ok := errors.AsType[*driver.Error](err); ok {
		code = e.Code() & 0xff
	}
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && code != lib.SQLITE_READONLY {
		return err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == path { // which the caller names
		err = e.Err
	}
	user := "this user"
	if id := os.Geteuid(); id >= 0 { // none on Windows
		user = fmt.Sprintf("the user with the ID %d", id)
	}
	return fmt.Errorf("%w; %s must be able to write the file and its folder %s: run the program as their owner, or change the owner", err, user, filepath.Dir(path))
}
