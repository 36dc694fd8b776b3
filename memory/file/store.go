// Package file keeps the memory of issues in a folder. A [Store] implements [memory.Store],
// [memory.Journal] and [memory.Agenda]. Any number of processes may use one folder.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/org/foreman-action/memory"
)

// A Store keeps one JSON file per issue below a directory: "owner/name/number.json" in lower
// case. Each file is replaced atomically. A lock, which the kernel drops when its process ends,
// excludes other processes while one writes. Links that lead out of the directory are not
// followed. When Save replaces a broken file, it keeps the old one beside it as
// "number.broken-<hash>.json". An object that is not a file is kept under a random name.
//
// The journal has one file of JSON lines per task in lower case,
// "owner/name/number.journal/task.jsonl" or "….scope.jsonl". It contains the ledger, and then
// every entry that was marked, in order. An incomplete last line is ignored. A broken file is
// kept as "task.jsonl.broken-<hash>". Begin removes files older than [memory.LedgerAge] from the
// issue's journal.
//
// A Store is safe for concurrent use.
type Store struct {
	// Now returns the time that determines the age of ledgers; nil means time.Now. Set it before
	// the first use.
	Now func() time.Time

	dir string
}

var _ memory.Store = (*Store)(nil)

// Open returns the store below dir, which must not be empty. The directory need not exist; the
// first Save or Begin creates it. Directories have mode 0o755 and files 0o644, less the umask.
func Open(dir string) (*Store, error) {
	if dir == "" {
		return nil, errors.New("open memory: no directory given")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("open memory: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open memory: %s is not a directory", dir)
	}
	return &Store{dir: dir}, nil
}

// Load implements [memory.Store].
func (s *Store) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	key, err := memory.Key(repo, issue)
	if err != nil {
		return memory.Record{}, fmt.Errorf("load memory: %w", err)
	}
	return view(ctx, s, "load memory "+key+".json", func(root *os.Root) (memory.Record, error) { return load(root, key, repo, issue) })
}

// view runs f on the store's folder. It returns memory.ErrNotFound if there is no folder. Other
// errors begin with what, the name of the operation.
func view[T any](ctx context.Context, s *Store, what string, f func(*os.Root) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	root, err := os.OpenRoot(s.dir)
	if err == nil {
		defer root.Close()
		v, err = f(root)
	}
	switch {
	case root == nil && errors.Is(err, fs.ErrNotExist):
		return v, memory.ErrNotFound
	case err != nil && !errors.Is(err, memory.ErrNotFound):
		err = fmt.Errorf("%s: %w", what, err)
	}
	return v, err
}

// load reads and decodes one file.
func load(root *os.Root, key, repo string, issue int) (memory.Record, error) {
	data, err := read(root, key+".json", memory.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return memory.Record{}, memory.ErrNotFound
	}
	if err != nil {
		return memory.Record{}, err
	}
	return memory.Decode(data, repo, issue)
}

// Save implements [memory.Store].
func (s *Store) Save(ctx context.Context, r memory.Record) error {
	key, err := memory.Key(r.Repo, r.Issue)
	if err != nil {
		return fmt.Errorf("save memory: %w", err)
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err == nil {
		err = s.update(ctx, true, func(root *os.Root) error {
			if err := makeRoom(root, key, r); err != nil {
				return err
			}
			return replace(root, key+".json", data)
		})
	}
	if err != nil {
		return fmt.Errorf("save memory %s.json: %w", key, err)
	}
	return nil
}

// update runs f on the store's folder while it holds the lock. If create is true, it creates a
// missing folder.
func (s *Store) update(ctx context.Context, create bool, f func(*os.Root) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if create {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := lock(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	return f(root)
}

// makeRoom checks that r may replace the stored record, which must have the same revision. It
// renames a broken file, so that a first record can be saved. The caller holds the lock.
func makeRoom(root *os.Root, key string, r memory.Record) error {
	old, err := load(root, key, r.Repo, r.Issue)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		old.Revision = 0
	case errors.Is(err, memory.ErrBroken) && r.Revision == 0:
		return setAside(root, key+".json", key+".broken-%s.json")
	case errors.Is(err, memory.ErrBroken):
		return fmt.Errorf("%w: %w", memory.ErrConflict, err)
	case err != nil:
		return err
	}
	if old.Revision != r.Revision {
		return fmt.Errorf("%w: it has revision %d, not %d", memory.ErrConflict, old.Revision, r.Revision)
	}
	return nil
}
