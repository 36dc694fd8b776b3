package memory

import (
	"context"
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
	"time"
)

// A File is a [Store] of one JSON file per issue, "owner/name/number.json" in lower
// case below a directory. Each file is replaced atomically; a lock that the kernel
// drops with its process keeps several processes apart. No link leads out of the
// directory. A broken file that Save replaces is kept beside the
// new one, as "number.broken-<hash>.json"; what is no file at all, under a random name.
//
// It is a [Journal] too, of one file of JSON lines per task,
// "owner/name/number.journal/task.jsonl" or "….scope.jsonl" in lower case: the ledger,
// then every entry that was marked, in order. A last line that is not whole counts as
// not written. A broken file is kept as "task.jsonl.broken-<hash>". Begin removes what
// is older than [LedgerAge] from the issue's journal.
type File struct {
	// Now tells the time, for the age of ledgers; nil means time.Now. Set it before
	// the first use.
	Now func() time.Time

	dir string
}

var _ Store = (*File)(nil)

// OpenFile returns the store and journal below dir. The directory need not exist; the
// first Save or Begin makes it. Directories have mode 0o755 and files 0o644, less the umask.
func OpenFile(dir string) (*File, error) {
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
	return &File{dir: dir}, nil
}

// Load implements [Store].
func (f *File) Load(ctx context.Context, repo string, issue int) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, fmt.Errorf("load memory: %w", err)
	}
	key, err := Key(repo, issue)
	if err != nil {
		return Record{}, fmt.Errorf("load memory: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("load memory: %w", err)
	}
	defer root.Close()
	r, err := load(root, key, repo, issue)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Record{}, fmt.Errorf("load memory %s.json: %w", key, err)
	}
	return r, err
}

// load reads and decodes one file.
func load(root *os.Root, key, repo string, issue int) (Record, error) {
	data, err := read(root, key+".json", MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, err
	}
	return Decode(data, repo, issue)
}

// read returns at most one byte more than the file may have.
func read(root *os.Root, name string, most int64) ([]byte, error) {
	// Opening a pipe would wait for its other end, and a link is none of ours.
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

// Save implements [Store].
func (f *File) Save(ctx context.Context, r Record) error {
	key, err := Key(r.Repo, r.Issue)
	if err != nil {
		return fmt.Errorf("save memory: %w", err)
	}
	if err := f.save(ctx, key, r); err != nil {
		return fmt.Errorf("save memory %s.json: %w", key, err)
	}
	return nil
}

func (f *File) save(ctx context.Context, key string, r Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next := r
	next.Revision++
	data, err := Encode(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	root, leave, err := f.enter(ctx)
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
func (f *File) enter(ctx context.Context) (root *os.Root, leave func(), err error) {
	root, err = os.OpenRoot(f.dir)
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
func makeRoom(root *os.Root, key string, r Record) error {
	old, err := load(root, key, r.Repo, r.Issue)
	switch {
	case errors.Is(err, ErrNotFound):
		old.Revision = 0
	case errors.Is(err, ErrBroken) && r.Revision == 0:
		return setAside(root, key+".json", key+".broken-%s.json")
	case errors.Is(err, ErrBroken):
		return fmt.Errorf("%w: %w", ErrConflict, err)
	case err != nil:
		return err
	}
	if old.Revision != r.Revision {
		return fmt.Errorf("%w: it has revision %d, not %d", ErrConflict, old.Revision, r.Revision)
	}
	return nil
}

// setAside renames what stands in the place of a record or a ledger. The new name is
// a format for a hash of the content: the same broken file is kept once. What is no
// file, or finds something else under that name, gets a random name.
func setAside(root *os.Root, name, format string) error {
	data, err := read(root, name, MaxLedger)
	if err != nil && !errors.Is(err, ErrBroken) {
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

// replace writes a file so that at any moment the old content or the new one is
// there whole, also after a crash of the machine. The lock is held.
func replace(root *os.Root, name string, data []byte) error {
	dir := path.Dir(name)
	if err := makeDir(root, dir); err != nil {
		return err
	}
	// One name for all attempts: what a killed one left is overwritten by the next.
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

// makeDir makes a directory, durably, with those above it.
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

// A lock that somebody else holds is tried again every lockEvery, for lockWait at
// most: a process that was stopped while it held the lock must not stop the others.
const (
	lockEvery = 2 * time.Millisecond
	lockWait  = 10 * time.Second
)

// lock takes the lock of the whole store, or gives up when ctx ends. Only writers
// take it, and for milliseconds. Its file stays: removing it would let two
// processes lock two different files.
func lock(ctx context.Context, root *os.Root) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	t := time.NewTicker(lockEvery)
	defer t.Stop()
	for {
		unlock, err := tryLock(root, ".lock")
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another process: %w", ctx.Err())
		case <-t.C:
		}
	}
}

// errLocked says that somebody else holds the lock.
var errLocked = errors.New("somebody else holds the lock")
