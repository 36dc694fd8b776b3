package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

var _ memory.Journal = (*Store)(nil)

// Ledger implements [memory.Journal].
func (s *Store) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	name, err := ledgerName(key)
	if err != nil {
		return memory.Ledger{}, fmt.Errorf("read journal: %w", err)
	}
	return view(ctx, s, "read journal "+name, func(root *os.Root) (memory.Ledger, error) {
		l, _, err := loadLedger(root, name, key)
		return l.Ledger, err
	})
}

func ledgerName(key memory.LedgerKey) (string, error) {
	name, err := key.Path()
	return name + ".jsonl", err
}

// A lines is the content of a ledger's file.
type lines struct {
	memory.Ledger      // with all marks
	torn          bool // the last line is incomplete
}

// loadLedger reads and decodes one file, and returns its size.
func loadLedger(root *os.Root, name string, key memory.LedgerKey) (l lines, size int, err error) {
	data, err := read(root, name, memory.MaxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return lines{}, 0, memory.ErrNotFound
	}
	if err != nil {
		return lines{}, 0, err
	}
	l, err = decodeLines(data, key)
	return l, len(data), err
}

// decodeLines decodes the lines of a file: the ledger, and an entry for each mark. A mark is
// durable only when its line has been written to the end. A last line without a newline, or one
// that is not JSON, is therefore the rest of a mark that failed, because of a kill or a full
// disk.
func decodeLines(data []byte, key memory.LedgerKey) (lines, error) {
	if len(data) > memory.MaxLedger {
		return lines{}, broken(fmt.Errorf("the ledger is larger than %d bytes", memory.MaxLedger))
	}
	line, rest, whole := bytes.Cut(data, []byte("\n"))
	if !whole {
		return lines{}, broken(fmt.Errorf("its first line is truncated after %d bytes", len(data)))
	}
	l, err := memory.DecodeLedger(line, key)
	if err != nil {
		return lines{}, err
	}
	for n := 2; len(rest) > 0; n++ {
		line, rest, whole = bytes.Cut(rest, []byte("\n"))
		if !whole || len(rest) == 0 && !json.Valid(line) {
			return lines{Ledger: l, torn: true}, nil
		}
		e, err := memory.DecodeEntry(line)
		if err != nil {
			return lines{}, fmt.Errorf("line %d: %w", n, err)
		}
		if e.Index < 0 || e.Index >= len(l.Entries) {
			// Mark would return ErrNotFound, which means that there is no ledger.
			return lines{}, broken(fmt.Errorf("line %d: the task has no action %d", n, e.Index))
		}
		if err := l.Mark(e); err != nil {
			return lines{}, broken(fmt.Errorf("line %d: %w", n, err))
		}
	}
	return lines{Ledger: l}, nil
}

// Begin implements [memory.Journal].
func (s *Store) Begin(ctx context.Context, l memory.Ledger) error {
	name, err := ledgerName(l.LedgerKey)
	if err != nil {
		return fmt.Errorf("begin journal: %w", err)
	}
	data, err := memory.EncodeLedger(l)
	if err == nil {
		err = s.update(ctx, true, func(root *os.Root) error { return s.begin(root, name, l.LedgerKey, data) })
	}
	if err != nil {
		return fmt.Errorf("begin journal %s: %w", name, err)
	}
	return nil
}

// begin writes a new ledger. The caller holds the lock.
func (s *Store) begin(root *os.Root, name string, key memory.LedgerKey, data []byte) error {
	_, _, err := loadLedger(root, name, key)
	switch {
	case err == nil:
		return fmt.Errorf("%w: the task has a ledger already", memory.ErrConflict)
	case errors.Is(err, memory.ErrBroken):
		err = setAside(root, name, name+".broken-%s")
	case errors.Is(err, memory.ErrNotFound):
		err = nil
	}
	if err != nil {
		return err
	}
	if err := replace(root, name, data); err != nil {
		return err
	}
	s.prune(root, name)
	return nil
}

// prune removes the files in the ledger's folder that are older than memory.LedgerAge. It never
// removes the ledger itself, even if a clock is wrong. A file that cannot be removed only takes
// up space.
func (s *Store) prune(root *os.Root, name string) {
	oldest := wait.Clock(s.Now)().Add(-memory.LedgerAge)
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

// Mark implements [memory.Journal].
func (s *Store) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	name, err := ledgerName(key)
	if err != nil {
		return fmt.Errorf("mark journal: %w", err)
	}
	err = s.update(ctx, false, func(root *os.Root) error { return mark(root, name, key, e) })
	if errors.Is(err, fs.ErrNotExist) {
		err = memory.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("mark journal %s: %w", name, err)
	}
	return nil
}

// mark replaces an entry of a ledger. The caller holds the lock.
func mark(root *os.Root, name string, key memory.LedgerKey, e memory.Entry) error {
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
	if !l.torn && size+len(line) <= memory.MaxLedger {
		return appendTo(root, name, line)
	}
	// mark writes a new file, so that a process that reads the old one never reads a mixture of
	// the two.
	data, err := memory.EncodeLedger(l.Ledger)
	if err != nil {
		return err
	}
	return replace(root, name, data)
}
