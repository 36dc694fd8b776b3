package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/org/foreman-action/protocol"
)

// LedgerAge is how long a [File] keeps a ledger after its last change: longer than
// GitHub lets a workflow run be run again, which is 30 days.
const LedgerAge = 35 * 24 * time.Hour

var _ Journal = (*File)(nil)

// Ledger implements [Journal].
func (f *File) Ledger(ctx context.Context, key LedgerKey) (Ledger, error) {
	if err := ctx.Err(); err != nil {
		return Ledger{}, fmt.Errorf("read journal: %w", err)
	}
	name, err := ledgerName(key)
	if err != nil {
		return Ledger{}, fmt.Errorf("read journal: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Ledger{}, ErrNotFound
	}
	if err != nil {
		return Ledger{}, fmt.Errorf("read journal: %w", err)
	}
	defer root.Close()
	l, _, err := loadLedger(root, name, key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Ledger{}, fmt.Errorf("read journal %s: %w", name, err)
	}
	return l.Ledger, err
}

func ledgerName(key LedgerKey) (string, error) {
	name, err := key.Path()
	return name + ".jsonl", err
}

// A lines is what the file of a ledger holds.
type lines struct {
	Ledger      // with all marks
	torn   bool // the last line is not whole
}

// loadLedger reads and decodes one file, and returns its size.
func loadLedger(root *os.Root, name string, key LedgerKey) (l lines, size int, err error) {
	data, err := read(root, name, MaxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return lines{}, 0, ErrNotFound
	}
	if err != nil {
		return lines{}, 0, err
	}
	l, err = decodeLines(data, key)
	return l, len(data), err
}

// decodeLines reads the lines of a file: the ledger, and an entry for each mark. A
// mark is durable only with the end of its line, so a last line without it, or one
// that is no JSON, is what a kill or a full disk left of a mark that failed.
func decodeLines(data []byte, key LedgerKey) (lines, error) {
	if len(data) > MaxLedger {
		return lines{}, broken(errLedgerTooLarge)
	}
	line, rest, whole := bytes.Cut(data, []byte("\n"))
	if !whole {
		return lines{}, broken(fmt.Errorf("its first line is truncated after %d bytes", len(data)))
	}
	l, err := DecodeLedger(line, key)
	if err != nil {
		return lines{}, err
	}
	for n := 2; len(rest) > 0; n++ {
		line, rest, whole = bytes.Cut(rest, []byte("\n"))
		if !whole || len(rest) == 0 && !json.Valid(line) {
			return lines{Ledger: l, torn: true}, nil
		}
		var e Entry
		if err := unmarshal(line, &e); err != nil {
			return lines{}, fmt.Errorf("line %d: %w", n, err)
		}
		if !l.has(e.Index) {
			// ErrNotFound would deny the ledger.
			return lines{}, broken(fmt.Errorf("line %d: the task has no action %d", n, e.Index))
		}
		if err := l.Mark(e); err != nil {
			return lines{}, broken(fmt.Errorf("line %d: %w", n, err))
		}
	}
	return lines{Ledger: l}, nil
}

// Begin implements [Journal].
func (f *File) Begin(ctx context.Context, l Ledger) error {
	name, err := ledgerName(l.LedgerKey)
	if err != nil {
		return fmt.Errorf("begin journal: %w", err)
	}
	if err := f.begin(ctx, name, l); err != nil {
		return fmt.Errorf("begin journal %s: %w", name, err)
	}
	return nil
}

func (f *File) begin(ctx context.Context, name string, l Ledger) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := EncodeLedger(l)
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
	_, _, err = loadLedger(root, name, l.LedgerKey)
	switch {
	case err == nil:
		return fmt.Errorf("%w: the task has a ledger already", ErrConflict)
	case errors.Is(err, ErrBroken):
		err = setAside(root, name, name+".broken-%s")
	case errors.Is(err, ErrNotFound):
		err = nil
	}
	if err != nil {
		return err
	}
	if err := replace(root, name, data); err != nil {
		return err
	}
	f.prune(root, name)
	return nil
}

// prune removes the files beside a ledger that are older than LedgerAge, and never the
// ledger, whatever the clocks say. What cannot be removed costs room and nothing else.
func (f *File) prune(root *os.Root, name string) {
	now := time.Now
	if f.Now != nil {
		now = f.Now
	}
	oldest := now().Add(-LedgerAge)
	dir, own := path.Split(name)
	list, err := fs.ReadDir(root.FS(), path.Clean(dir))
	if err != nil {
		return
	}
	for _, d := range list {
		info, err := d.Info()
		if err == nil && d.Name() != own && info.Mode().IsRegular() && info.ModTime().Before(oldest) {
			_ = root.Remove(dir + d.Name())
		}
	}
}

// Mark implements [Journal].
func (f *File) Mark(ctx context.Context, key LedgerKey, e Entry) error {
	name, err := ledgerName(key)
	if err != nil {
		return fmt.Errorf("mark journal: %w", err)
	}
	if err := f.mark(ctx, name, key, e); err != nil {
		return fmt.Errorf("mark journal %s: %w", name, err)
	}
	return nil
}

func (f *File) mark(ctx context.Context, name string, key LedgerKey, e Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, leave, err := f.enter(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	defer leave()
	l, size, err := loadLedger(root, name, key)
	if err != nil {
		return err
	}
	if err := l.Mark(e); err != nil {
		return err
	}
	line, err := protocol.Encode(l.Entries[e.Index])
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if !l.torn && size+len(line) <= MaxLedger {
		return appendTo(root, name, line)
	}
	// A new file, so that nobody who reads the old one finds half of each.
	data, err := EncodeLedger(l.Ledger)
	if err != nil {
		return err
	}
	return replace(root, name, data)
}

// appendTo writes behind a file, durably. The lock is held.
func appendTo(root *os.Root, name string, data []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
