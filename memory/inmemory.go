package memory

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// New returns an empty store that lasts as long as the process. Only this process can use it.
func New() Agenda { return &records{data: map[string][]byte{}} }

// NewJournal returns an empty journal that lasts as long as the process. A killed process therefore
// cannot know which writes it made.
func NewJournal() Journal { return &ledgers{data: map[string][]byte{}} }

// records are a store in memory.
type records struct {
	mu   sync.Mutex
	data map[string][]byte // encoded records by key, so that callers share no data
}

// Load implements [Store].
func (s *records) Load(ctx context.Context, repo string, issue int) (Record, error) {
	key, err := Key(repo, issue)
	if err != nil {
		return Record{}, err
	}
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.data[key]
	if !ok {
		return Record{}, ErrNotFound
	}
	return Decode(data, repo, issue)
}

// Save implements [Store].
func (s *records) Save(ctx context.Context, r Record) error {
	key, err := Key(r.Repo, r.Issue)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	revision := 0
	if data, ok := s.data[key]; ok {
		old, err := Decode(data, r.Repo, r.Issue)
		if err != nil {
			return err
		}
		revision = old.Revision
	}
	if revision != r.Revision {
		return ErrConflict
	}
	r.Revision++
	data, err := Encode(r)
	if err != nil {
		return err
	}
	s.data[key] = data
	return nil
}

// Pending implements [Agenda].
func (s *records) Pending(ctx context.Context, repo string) (list []Due, complete bool, err error) {
	return s.list(ctx, repo, (*Record).Due)
}

// Acted implements [Agenda].
func (s *records) Acted(ctx context.Context, repo string, after time.Time) (list []Due, complete bool, err error) {
	return s.list(ctx, repo, func(r *Record) (time.Time, bool) { return r.FirstAfter(after) })
}

// list returns the issues of a repository for which when returns a time.
func (s *records) list(ctx context.Context, repo string, when func(*Record) (time.Time, bool)) (list []Due, complete bool, err error) {
	key, err := Key(repo, 1)
	if err != nil {
		return nil, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	complete = true
	for k, data := range s.data {
		number, below := strings.CutPrefix(k, path.Dir(key)+"/")
		if !below {
			continue
		}
		issue, _ := strconv.Atoi(number) // err is always nil, because the store made the key
		r, err := Decode(data, repo, issue)
		if err != nil {
			complete = false
		} else if at, ok := when(&r); ok && issue != Repository {
			list = append(list, Due{Issue: issue, At: at})
		}
	}
	SortDue(list)
	return list, complete, nil
}

// ledgers are a journal in memory.
type ledgers struct {
	mu   sync.Mutex
	data map[string][]byte // encoded ledgers by path, so that callers share no data
}

// Ledger implements [Journal].
func (j *ledgers) Ledger(ctx context.Context, key LedgerKey) (Ledger, error) {
	name, err := key.Path()
	if err != nil {
		return Ledger{}, err
	}
	if err := ctx.Err(); err != nil {
		return Ledger{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.load(name, key)
}

// load reads one ledger. The caller holds the lock.
func (j *ledgers) load(name string, key LedgerKey) (Ledger, error) {
	data, ok := j.data[name]
	if !ok {
		return Ledger{}, ErrNotFound
	}
	return DecodeLedger(data, key)
}

// Begin implements [Journal].
func (j *ledgers) Begin(ctx context.Context, l Ledger) error {
	name, err := l.Path()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := EncodeLedger(l)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.data[name]; ok {
		return fmt.Errorf("%w: the task has a ledger already", ErrConflict)
	}
	j.data[name] = data
	return nil
}

// Mark implements [Journal].
func (j *ledgers) Mark(ctx context.Context, key LedgerKey, e Entry) error {
	name, err := key.Path()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	l, err := j.load(name, key)
	if err != nil {
		return err
	}
	if err := l.Mark(e); err != nil {
		return err
	}
	data, err := EncodeLedger(l)
	if err != nil {
		return err
	}
	j.data[name] = data
	return nil
}
