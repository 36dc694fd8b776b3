package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

// ErrReplaced means that a file of a store was removed, replaced or overwritten while it was in
// use, so that further writes would be lost. The error is permanent. It also matches
// queue.ErrUnavailable.
var ErrReplaced = errors.New("the database was removed, replaced or overwritten while it was in use")

// files detects that a file of a database is no longer the file that was opened. It checks the
// database, its write-ahead log and the log's index. SQLite keeps using an open file after it was
// removed, and its writes are lost when the process ends. SQLite itself never removes or replaces
// these files while there is a connection.
type files struct {
	path   string
	opened [3]os.FileInfo // by suffix; nil: the file did not exist
	index  *walIndex

	mu      sync.Mutex
	written *written // nil: unknown so far

	lost atomic.Pointer[error] // nil: the files are in place
	// The database file is the opened one, but its content was replaced.
	overwritten atomic.Bool
	lostOnce    sync.Once
	gone        chan struct{} // closed when lost is set
}

// suffixes are appended to the path to get the names of the three files.
var suffixes = [3]string{"", "-wal", "-shm"}

// newFiles returns the files of a database. They are checked only after a call of remember. The
// caller must call index.release.
func newFiles(path string) *files {
	return &files{path: path, index: inProcess.use(path + suffixes[2]), gone: make(chan struct{})}
}

// remember records the present files as the opened ones, after a connection was opened and used.
// before is the database file from before the connection was opened. On Windows nothing is recorded,
// and so nothing is checked: no program can remove, rename or replace a file that SQLite has open. An
// overwritten file is not detected there, because Windows updates the time of an open file late.
func (f *files) remember(before os.FileInfo) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	for i, suffix := range suffixes {
		info, err := os.Stat(f.path + suffix) //nolint:gosec // the path is where the user wants it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			f.opened[i] = info
		}
	}
	if f.opened[0] == nil || !os.SameFile(before, f.opened[0]) {
		return fmt.Errorf("%w: %w", queue.ErrUnavailable, ErrReplaced)
	}
	return f.index.openFile()
}

// check returns an error unless all files are in place. After an ErrReplaced it always returns
// that error.
func (f *files) check() error {
	if err := f.err(); err != nil {
		return err
	}
	if err := f.checkDatabase(); err != nil {
		return err
	}
	for i := range suffixes[1:] {
		if f.opened[i+1] == nil {
			continue
		}
		if _, err := f.stat(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// stat returns the state of the i-th file, which was there when the database was opened. If the
// file is no longer the opened one, the files are lost, and the error says so.
func (f *files) stat(i int) (os.FileInfo, error) {
	path := f.path + suffixes[i]
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.lose(path + " was removed")
	case err != nil:
		return nil, fmt.Errorf("%w: check the files of the database: %w", queue.ErrUnavailable, err)
	case !os.SameFile(f.opened[i], info):
		return nil, f.lose(path + " is another file now")
	}
	return info, nil
}

// A written is the state of the database file between two writes.
type written struct {
	size        int64
	at          time.Time
	checkpoints checkpoints
}

// checkDatabase returns an error if the database file is not in place, or if another program wrote
// to it, for example if a backup was copied over it. SQLite would continue with the other content,
// accept further tasks, and lose all of them. SQLite itself writes to this file only in a
// checkpoint. checkDatabase does not detect a change during a checkpoint.
func (f *files) checkDatabase() error {
	if f.opened[0] == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before, ok := f.index.read()
	info, err := f.stat(0)
	if err != nil || !ok || before.running() {
		return err
	}
	if after, ok := f.index.read(); !ok || after != before {
		return nil // a checkpoint has begun
	}
	now, last := &written{info.Size(), info.ModTime(), before}, f.written
	if last != nil && now.checkpoints == last.checkpoints && (now.size != last.size || !now.at.Equal(last.at)) {
		f.overwritten.Store(true)
		return f.lose(f.path + " was overwritten")
	}
	f.written = now
	return nil
}

// err returns why the files are lost, or nil if they were in place at the last check.
func (f *files) err() error {
	if err := f.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// lose records that the files are lost.
func (f *files) lose(why string) error {
	f.lostOnce.Do(func() {
		err := fmt.Errorf("%w: %w: %s", queue.ErrUnavailable, ErrReplaced, why)
		f.lost.Store(&err)
		close(f.gone)
	})
	return f.err()
}

// is reports whether the i-th file exists, and whether it is the file that was opened.
func (f *files) is(i int) (there, opened bool) {
	info, err := os.Stat(f.path + suffixes[i]) //nolint:gosec // as in remember
	return err == nil, err == nil && f.opened[i] != nil && os.SameFile(f.opened[i], info)
}

// foreign reports whether the connections must stay open until the process ends. The last
// connection that is closed copies the log into the database, and removes the log and its index
// by their names. These files may belong to another database now.
func (f *files) foreign() bool {
	if f.err() == nil {
		return false
	}
	for i := range suffixes[1:] {
		if there, opened := f.is(i + 1); there && !opened {
			return true
		}
	}
	return f.overwritten.Load()
}

// clear removes the log and the index of a lost database after it was closed, because SQLite
// would use them with the file that replaces the database. If the database was overwritten,
// intact reports whether the log still matches it, as it does after an overwrite with the same
// content. In that case both files stay. Otherwise the log is kept under another name.
func (f *files) clear(intact func() bool) error {
	if f.err() == nil {
		return nil
	}
	_, opened := f.is(0)
	remove := os.Remove
	switch overwritten := f.overwritten.Load(); {
	case opened && (!overwritten || intact()):
		return nil
	case opened:
		remove = func(path string) error {
			return os.Rename(path, saveName(f.path, SavedLog)) //nolint:gosec // as in remember
		}
	}
	var errs []error
	for i, suffix := range suffixes[1:] {
		if _, opened := f.is(i + 1); opened {
			errs = append(errs, remove(f.path+suffix))
			remove = os.Remove // the index can be rebuilt
		}
	}
	return errors.Join(errs...)
}
