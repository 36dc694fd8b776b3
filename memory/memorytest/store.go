package memorytest

import (
	"context"
	"sync"

	"github.com/org/foreman-action/memory"
)

// A Store is a memory.Store that lives as long as the process. The zero value is
// empty and ready to use.
type Store struct {
	mu   sync.Mutex
	data map[string][]byte // encoded, by key: what is stored shares nothing with its callers
}

var _ memory.Store = (*Store)(nil)

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
