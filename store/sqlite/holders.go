package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/store/internal/sqlqueue"
)

// holders are the processes that lease decisions from one file. Each has a file beside it,
// which it keeps locked for as long as it lives: the kernel drops the lock when the process
// ends, however it ends. It is safe for concurrent use.
type holders struct {
	path string // of the database
	id   string

	mu     sync.Mutex
	tried  bool
	unlock func() // nil: there is no lock
	swept  bool   // the files that earlier processes left were deleted
}

var _ sqlqueue.Holders = (*holders)(nil)

func newHolders(path string) *holders { return &holders{path: path, id: rand.Text()} }

// lockSuffix stands between the name of the database and the id of a process in the name of
// its lock.
const lockSuffix = "-server-"

func (h *holders) name(id string) string { return filepath.Base(h.path) + lockSuffix + id }

// Own implements sqlqueue.Holders. The lock is taken at the first call: a process that never
// leases a decision needs none.
func (h *holders) Own() (id string, provable bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.tried {
		h.tried = true
		h.unlock = h.lock()
	}
	return h.id, h.unlock != nil
}

// lock takes the lock of this process; nil: the file system has no locks. Another process
// may delete the file before it is locked, because it looks like one that was left behind.
func (h *holders) lock() func() {
	root, err := os.OpenRoot(filepath.Dir(h.path))
	if err != nil {
		return nil
	}
	defer root.Close()
	for range 10 {
		unlock, err := filelock.Try(root, h.name(h.id))
		if err == nil {
			if _, err := root.Lstat(h.name(h.id)); err == nil {
				return unlock
			}
			unlock()
			continue
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil
		}
	}
	return nil
}

// Ended implements sqlqueue.Holders. A process whose file is missing is unknown: it may have
// been deleted by a person.
func (h *holders) Ended(ctx context.Context, ids []string) (ended []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := ctx.Err(); err != nil || len(ids) == 0 && h.swept {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(h.path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), h.name(""))
		if !ok || id == h.id || !e.Type().IsRegular() {
			continue
		}
		unlock, err := filelock.Try(root, e.Name())
		switch {
		case err != nil:
			continue // it lives, or it is unknown
		case slices.Contains(ids, id):
			ended = append(ended, id)
		default:
			_ = root.Remove(e.Name()) // if it stays, it costs nothing
		}
		unlock()
	}
	h.swept = true
	return ended, nil
}

// close drops the lock. The file goes too: a process that stops releases its leases first.
func (h *holders) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = true
	if h.unlock != nil {
		_ = os.Remove(filepath.Join(filepath.Dir(h.path), h.name(h.id))) //nolint:gosec // the path is where the user wants it
		h.unlock()
		h.unlock = nil
	}
}
