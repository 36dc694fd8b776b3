// Package file keeps the memory of issues in a folder: a [Store] is a [memory.Store], a
// [memory.Journal] and a [memory.Agenda] at once, for any number of processes.
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

// A Store keeps one JSON file per issue, "owner/name/number.json" in lower
// case below a directory. Each file is replaced atomically; a lock that the kernel
// drops with its process keeps several processes apart. No link leads out of the
// directory. Save keeps a broken file that it replaces beside the
// new one, as "number.broken-<hash>.json", and anything that is no file under a random name.
//
// Its journal is one file of JSON lines per task,
// "owner/name/number.journal/task.jsonl" or "….scope.jsonl" in lower case: the ledger,
// then every entry that was marked, in order. A last line that is not whole counts as
// not written. A broken file is kept as "task.jsonl.broken-<hash>". Begin removes files
// older than [memory.LedgerAge] from the issue's journal.
//
// A Store is safe for concurrent use.
type Store struct {
	// Now tells the time, for the age of ledgers; nil means time.Now. Set it before
	// the first use.
	Now func() time.Time

	dir string
}

var _ memory.Store = (*Store)(nil)

// Open returns the store below dir, which is not empty. The directory need not exist; the
// first Save or Begin makes it. Directories have mode 0o755 and files 0o644, less the umask.
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
	if err := ctx.Err(); err != nil {
		return memory.Record{}, fmt.Errorf("load memory: %w", err)
	}
	key, err := memory.Key(repo, issue)
	if err != nil {
		return memory.Record{}, fmt.Errorf("load memory: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return memory.Record{}, memory.ErrNotFound
	}
	if err != nil {
		return memory.Record{}, fmt.Errorf("load memory: %w", err)
	}
	defer root.Close()
	r, err := load(root, key, repo, issue)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return memory.Record{}, fmt.Errorf("load memory %s.json: %w", key, err)
	}
	return r, err
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
	if err := s.save(ctx, key, r); err != nil {
		return fmt.Errorf("save memory %s.json: %w", key, err)
	}
	return nil
}

func (s *Store) save(ctx context.Context, key string, r memory.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	root, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := makeRoom(root, key, r); err != nil {
		return err
	}
	return replace(root, key+".json", data)
}

// enter opens the folder, and keeps other writers out of it until leave is called.
func (s *Store) enter(ctx context.Context) (root *os.Root, leave func(), err error) {
	root, err = os.OpenRoot(s.dir)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := lock(ctx, root)
	if err != nil {
		_ = root.Close() // nothing was done in it
		return nil, nil, err
	}
	return root, func() {
		unlock()
		_ = root.Close() // it holds nothing that is not written
	}, nil
}

// makeRoom compares revisions, and sets a broken file aside. The lock is held.
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
