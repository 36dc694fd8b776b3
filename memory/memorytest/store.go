package memorytest

import (
	"context"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/org/foreman-action/memory"
)

// A Store is a memory.Agenda in memory, which lasts as long as the process. The zero value is
// empty and ready to use.
type Store struct {
	mu   sync.Mutex
	data map[string][]byte // encoded records by key, so that callers share no data
}

var _ memory.Agenda = (*Store)(nil)

// Load implements memory.Store.
func (s *Store) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	key, err := memory.Key(repo, issue)
	if err != nil {
		return memory.Record{}, err
	}
	if err := ctx.Err(); err != nil {
		return memory.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.data[key]
	if !ok {
		return memory.Record{}, memory.ErrNotFound
	}
	return memory.Decode(data, repo, issue)
}

// Save implements memory.Store.
func (s *Store) Save(ctx context.Context, r memory.Record) error {
	key, err := memory.Key(r.Repo, r.Issue)
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
		old, err := memory.Decode(data, r.Repo, r.Issue)
		if err != nil {
			return err
		}
		revision = old.Revision
	}
	if revision != r.Revision {
		return memory.ErrConflict
	}
	r.Revision++
	data, err := memory.Encode(r)
	if err != nil {
		return err
	}
	if s.data == nil {
		s.data = map[string][]byte{}
	}
	s.data[key] = data
	return nil
}

// Pending implements memory.Agenda.
func (s *Store) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	key, err := memory.Key(repo, 1)
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
		r, err := memory.Decode(data, repo, issue)
		if err != nil {
			complete = false
		} else if at, ok := r.Due(); ok {
			list = append(list, memory.Due{Issue: issue, At: at})
		}
	}
	memory.SortDue(list)
	return list, complete, nil
}
