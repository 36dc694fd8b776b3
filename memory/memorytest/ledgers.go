package memorytest

import (
	"context"
	"fmt"
	"sync"

	"github.com/org/foreman-action/memory"
)

// A Journal is a memory.Journal in memory, which lasts as long as the process. The zero value is
// empty and ready to use.
type Journal struct {
	mu   sync.Mutex
	data map[string][]byte // encoded ledgers by path, so that callers share no data
}

var _ memory.Journal = (*Journal)(nil)

// Ledger implements memory.Journal.
func (j *Journal) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	path, err := key.Path()
	if err != nil {
		return memory.Ledger{}, err
	}
	if err := ctx.Err(); err != nil {
		return memory.Ledger{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.load(path, key)
}

// load reads one ledger. The caller holds the lock.
func (j *Journal) load(path string, key memory.LedgerKey) (memory.Ledger, error) {
	data, ok := j.data[path]
	if !ok {
		return memory.Ledger{}, memory.ErrNotFound
	}
	return memory.DecodeLedger(data, key)
}

// Begin implements memory.Journal.
func (j *Journal) Begin(ctx context.Context, l memory.Ledger) error {
	path, err := l.Path()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := memory.EncodeLedger(l)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.data[path]; ok {
		return fmt.Errorf("%w: the task has a ledger already", memory.ErrConflict)
	}
	if j.data == nil {
		j.data = map[string][]byte{}
	}
	j.data[path] = data
	return nil
}

// Mark implements memory.Journal.
func (j *Journal) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	path, err := key.Path()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	l, err := j.load(path, key)
	if err != nil {
		return err
	}
	if err := l.Mark(e); err != nil {
		return err
	}
	data, err := memory.EncodeLedger(l)
	if err != nil {
		return err
	}
	j.data[path] = data
	return nil
}
