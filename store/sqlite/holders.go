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

// holders detects whether processes that lease decisions from a file are alive. Each process has
// a lock file beside the database and keeps it locked. The kernel drops the lock when the process
// ends in any way. A holders is safe for concurrent use.
type holders struct {
	path string // of the database
	id   string

	mu     sync.Mutex
	tried  bool
	unlock func() // nil: this process has no lock
	swept  bool   // lock files of earlier processes were deleted
}

var _ sqlqueue.Holders = (*holders)(nil)

func newHolders(path string) *holders { return &holders{path: path, id: rand.Text()} }

// lockSuffix separates the name of the database from the id of a process in the name of a lock
// file.
const lockSuffix = "-server-"

func (h *holders) name(id string) string { return filepath.Base(h.path) + lockSuffix + id }

// Own implements sqlqueue.Holders. The first call takes the lock, because a process that never
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

// lock takes the lock of this process; nil: the file system has no locks. Before the new file is
// locked, another process may delete it, because it looks like the file of an ended process. So
// lock tries several times.
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

// Ended implements sqlqueue.Holders. It does not report a process whose file is missing, because
// a person may have deleted the file.
func (h *holders) Ended(ctx context.Context, ids []string) (ended []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := ctx.Err(); err != nil || len(ids) == 0 && h.swept {
		return nil, err
	}
	err = h.others(func(root *os.Root, id string, over bool) {
		switch {
		case !over:
		case slices.Contains(ids, id):
			ended = append(ended, id)
		default:
			_ = root.Remove(h.name(id)) // a file that cannot be deleted does no harm
		}
	})
	h.swept = h.swept || err == nil
	return ended, err
}

// alone reports whether every other process that leased decisions from the file has ended.
func (h *holders) alone() bool {
	alone := true
	err := h.others(func(_ *os.Root, _ string, over bool) { alone = alone && over })
	return err == nil && alone
}

// others calls f for the lock file of each other process. over is true if that process has ended,
// and false if it is alive or its state is unknown.
func (h *holders) others(f func(root *os.Root, id string, over bool)) error {
	root, err := os.OpenRoot(filepath.Dir(h.path))
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), h.name(""))
		if !ok || id == h.id || !e.Type().IsRegular() {
			continue
		}
		unlock, err := filelock.Try(root, e.Name())
		f(root, id, err == nil)
		if err == nil {
			unlock()
		}
	}
	return nil
}

// close drops the lock and deletes its file, because a process that stops has released its
// leases.
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
