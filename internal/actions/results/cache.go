package results

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/org/foreman-action/memory"
)

// A Cache is a memory.Store of one cache entry per record and revision, with the
// key "foreman/v1/i<N>/<revision>", ten digits. Make it with [NewCache].
//
// Entries never change, and a key is given once: who is second gets
// memory.ErrConflict. A key that is taken and shows nothing is either one that a
// search does not show yet, or one that a program left that was killed while it
// saved: it is waited for, fifteen seconds in all, then passed over, and so are the
// next two, so numbers of keys may run ahead of revisions. If the fourth is taken
// too, nothing is saved, and the error, which is none to try again at, says so.
// Numbers run ahead too when a broken entry is replaced. A search that is behind for
// longer makes the newer record hide the one that it did not show; what that one
// told stands in the timeline of the issue still.
//
// On events that anybody can cause GitHub gives jobs a cache that can only be read.
// A save is then [ErrDenied]. So is one where the mode of the cache is write-only:
// who cannot look does not know the next number, and one that is free may be that of
// an old entry that was evicted, whose successor a new one would hide.
type Cache struct {
	c    *client
	wire cacheWire
	repo string
	mode string
	gate gate

	mu    sync.Mutex
	seen  map[int]slot // by issue
	saves int          // that were made: a search from before one knows less than seen
}

var _ memory.Store = (*Cache)(nil)

// A slot is what is known of the newest entry of an issue.
type slot struct {
	number   int // of its key; 0: there is none
	revision int
	err      error // instead of a revision
}

// A cacheWire is one version of the service.
type cacheWire interface {
	// find returns the newest entry whose key starts with prefix; an empty key: none.
	find(ctx context.Context, prefix string) (key string, from signed, err error)
	// reserve takes a key for an entry of size bytes, and returns what fills it. The
	// error is errKeyTaken when the key is in use.
	reserve(ctx context.Context, key string, size int) (fill, error)
}

// A fill uploads an entry whose key is reserved, and makes it visible.
type fill func(ctx context.Context, data []byte) error

// errKeyTaken says that somebody has reserved the key before.
var errKeyTaken = errors.New("the key is taken")

// A key that is taken and shows nothing is looked at maxLooks times, with firstWait
// and then twice the last wait between, and up to maxSkip of them are passed over.
const (
	maxLooks = 4
	maxSkip  = 3
)

// Load implements memory.Store.
func (s *Cache) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if err := checkIssue(ctx, s.repo, repo, issue); err != nil {
		return memory.Record{}, fmt.Errorf("load memory from cache: %w", err)
	}
	r, _, err := s.look(ctx, issue)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return memory.Record{}, fmt.Errorf("load memory from cache %s: %w", prefix(issue), err)
	}
	return r, err
}

// look reads the newest entry and remembers its number, unless a save came between.
// The slot is good whenever the error is nil, memory.ErrNotFound, or told.
func (s *Cache) look(ctx context.Context, issue int) (memory.Record, slot, error) {
	if s.mode == "none" || s.mode == "write-only" {
		return memory.Record{}, slot{}, s.modeError("read")
	}
	began := s.made()
	var r memory.Record
	var now slot
	number, from, err := s.newest(ctx, issue)
	if err == nil {
		now.number = number
		r, err = s.fetch(ctx, from, issue)
	}
	if !told(err) && !errors.Is(err, memory.ErrNotFound) {
		return memory.Record{}, slot{}, err
	}
	now.revision, now.err = r.Revision, err
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saves == began {
		s.seen[issue] = now
	}
	return r, now, err
}

// newest finds the newest entry. One that has our prefix and no number is passed over;
// if there is no other, the error is memory.ErrBroken. That of none at all is
// memory.ErrNotFound.
func (s *Cache) newest(ctx context.Context, issue int) (int, signed, error) {
	number, from, err := s.find(ctx, prefix(issue), issue)
	if !errors.Is(err, errOddKey) {
		return number, from, err
	}
	s.c.log.Warn("a cache entry with a key that is none of ours is passed over", "prefix", prefix(issue))
	odd := broken(err)
	// All of our keys go on with a zero.
	number, from, err = s.find(ctx, prefix(issue)+"0", issue)
	if errors.Is(err, errOddKey) || errors.Is(err, memory.ErrNotFound) {
		return 0, signed{}, odd
	}
	return number, from, err
}

// find finds the newest entry whose key starts with a text, and the key's number.
func (s *Cache) find(ctx context.Context, start string, issue int) (int, signed, error) {
	key, from, err := s.wire.find(ctx, start)
	if err != nil {
		return 0, signed{}, deny(err)
	}
	if key == "" {
		return 0, signed{}, memory.ErrNotFound
	}
	number, err := parseKey(key, issue)
	return number, from, err
}

func (s *Cache) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saves
}

func (s *Cache) fetch(ctx context.Context, from signed, issue int) (memory.Record, error) {
	r := call{what: "download the cache entry", method: "GET", url: from.url, limit: memory.MaxSize, secrets: from.secrets}
	got, err := s.c.do(ctx, r)
	switch {
	case errors.Is(err, errTooLarge), absent(err):
		return memory.Record{}, broken(err)
	case err != nil:
		return memory.Record{}, err
	}
	return memory.Decode(got.body, s.repo, issue)
}

// Save implements memory.Store.
func (s *Cache) Save(ctx context.Context, r memory.Record) error {
	if err := s.save(ctx, r); err != nil {
		return fmt.Errorf("save memory in cache %s: %w", prefix(r.Issue), err)
	}
	return nil
}

func (s *Cache) save(ctx context.Context, r memory.Record) error {
	if err := checkIssue(ctx, s.repo, r.Repo, r.Issue); err != nil {
		return err
	}
	if s.mode == "none" || s.mode == "read" {
		return s.modeError("write")
	}
	if s.mode == "write-only" {
		return fmt.Errorf("%w, and a save has to know what is stored; the mode `write` would do", s.modeError("read"))
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err != nil {
		return err
	}
	if err := s.gate.enter(ctx); err != nil {
		return err
	}
	defer s.gate.leave()
	now, err := s.current(ctx, r)
	if err != nil {
		return err
	}
	if err := admit(r.Revision, now.revision, now.err); err != nil {
		return err
	}
	number, err := s.store(ctx, r.Issue, now, data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	s.seen[r.Issue] = slot{number: number, revision: next.Revision}
	return nil
}

// current returns the newest entry as far as it is known. No search is needed when
// the record is the one that was seen last: if it is old, its next key is taken.
func (s *Cache) current(ctx context.Context, r memory.Record) (slot, error) {
	s.mu.Lock()
	now, ok := s.seen[r.Issue]
	s.mu.Unlock()
	if ok && admit(r.Revision, now.revision, now.err) == nil {
		return now, nil
	}
	_, now, err := s.look(ctx, r.Issue)
	if err != nil && !told(err) && !errors.Is(err, memory.ErrNotFound) {
		return slot{}, err
	}
	return now, nil
}

// store makes the next entry and returns its number.
func (s *Cache) store(ctx context.Context, issue int, now slot, data []byte) (int, error) {
	number := now.number + 1
	err := s.put(ctx, issue, number, data)
	if !errors.Is(err, errKeyTaken) {
		return number, err
	}
	if err := s.await(ctx, issue, now); err != nil {
		return 0, err
	}
	for range maxSkip {
		number++
		if err = s.put(ctx, issue, number, data); !errors.Is(err, errKeyTaken) {
			return number, err
		}
	}
	// Not a conflict: who tried again would wait as long again.
	return 0, fmt.Errorf("nothing was saved: the keys up to %s are in use and show no entry: "+
		"the search of the service is behind, or programs were killed while they saved: %w", key(issue, number), err)
}

// await waits for an entry whose key is taken. Its error is memory.ErrConflict when
// the entry appears; nil means that nobody seems to be at work on it any more.
func (s *Cache) await(ctx context.Context, issue int, before slot) error {
	for look, wait := 1, firstWait; look <= maxLooks; look, wait = look+1, 2*wait {
		if err := s.c.sleep(ctx, wait); err != nil {
			return err
		}
		_, now, err := s.look(ctx, issue)
		if err != nil && !told(err) && !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		if now.number != before.number {
			return fmt.Errorf("%w: revision %d was saved", memory.ErrConflict, now.revision)
		}
	}
	s.c.log.Warn("a cache entry that was begun and never finished is passed over", "after", key(issue, before.number))
	return nil
}

// put makes the entry of a number. When the outcome is not known the entry is looked
// for: what nobody can read is not saved.
func (s *Cache) put(ctx context.Context, issue, number int, data []byte) error {
	fill, err := s.wire.reserve(ctx, key(issue, number), len(data))
	if err != nil {
		return deny(err)
	}
	err = fill(ctx, data)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// The key is ours, so what is found under it is what was uploaded.
	if found, _, lost := s.wire.find(ctx, key(issue, number)); lost == nil && found == key(issue, number) {
		return nil
	}
	return deny(err)
}

func (s *Cache) modeError(what string) error {
	return fmt.Errorf("%w: the job may not %s caches: ACTIONS_CACHE_MODE is %q", ErrDenied, what, s.mode)
}

// deny marks the errors that are about a missing right.
func deny(err error) error {
	if forbidden(err) {
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
