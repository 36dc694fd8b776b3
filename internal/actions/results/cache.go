package results

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
	"github.com/org/foreman-action/memory"
)

// A Cache is a memory.Store of one cache entry per record and revision, with the key
// "foreman/v1/i<N>/<number>". The number has ten digits. Make it with [NewCache].
//
// Entries never change, and a key can be used once: the second save gets memory.ErrConflict. A key
// can be taken without an entry that the search shows. Either the search lags behind, or a program
// was killed while it saved. Save waits up to fifteen seconds for the entry, then skips this key
// and up to two more. So the numbers of keys may be higher than the revisions. If the fourth key is
// taken too, Save stores nothing and returns an error. That error is no conflict, so the caller
// does not repeat the save.
//
// Save also skips a number when it replaces a broken entry. If the search lags behind for longer
// than fifteen seconds, the new record hides the one that the search did not show. Its events are
// still in the timeline of the issue.
//
// On events that anybody can trigger, GitHub gives jobs a read-only cache. Save then returns
// [ErrDenied]. Save also returns ErrDenied in the mode write-only, because it cannot read which
// number is next. A free number may be that of an old entry that GitHub has evicted. A new entry
// under that number would hide the entry after it.
type Cache struct {
	service cacheService
	client  *rpc.Client
	repo    string
	mode    string
	sleep   func(context.Context, time.Duration) error
	log     *slog.Logger
	saving  semaphore

	mu    sync.Mutex
	seen  map[int]storedEntry // the newest entry that was read or saved, by issue
	saves int                 // number of saves; a search that began before the last save is outdated
}

var _ memory.Store = (*Cache)(nil)

// A storedEntry is the newest entry of an issue.
type storedEntry struct {
	number   int // of its key; 0: there is none
	revision int
	err      error // why the revision is unknown; nil if it is known
}

// A cacheService is one version of the cache service.
type cacheService interface {
	// find returns the newest entry whose key starts with prefix; an empty key: none.
	find(ctx context.Context, prefix string) (key string, from rpc.SignedURL, err error)
	// reserve takes a key for an entry of size bytes. The error is errKeyTaken when the
	// key is in use.
	reserve(ctx context.Context, key string, size int) (reservation, error)
	// upload uploads the entry of a reserved key, and makes it visible.
	upload(ctx context.Context, r reservation, data []byte) error
}

// A reservation is a reserved key and the place to which its entry is uploaded: a signed address in
// version 2 of the service, a path in version 1.
type reservation struct {
	key  string
	to   rpc.SignedURL
	path string
}

// foundEntry returns the key and the signed address in an answer.
func foundEntry(c *rpc.Client, f rpc.Fields, key, address string) (string, rpc.SignedURL, error) {
	found, err := f.Text(key)
	if err != nil {
		return "", rpc.SignedURL{}, err
	}
	from, err := c.SignedField(f, address)
	if err != nil {
		return "", rpc.SignedURL{}, err
	}
	return found, from, nil
}

// errKeyTaken means that the key was reserved before.
var errKeyTaken = errors.New("the key is taken")

// If a key is taken and no entry is visible, the store searches for the entry maxLooks times. It
// waits before each search, first firstWait, then twice as long each time. It skips up to maxSkip
// taken keys.
const (
	maxLooks = 4
	maxSkip  = 3
)

// NewCache returns the cache store of o.Repo. On github.com and ghe.com it uses version 2 of the
// service, elsewhere version 1 if ACTIONS_CACHE_URL is set. (It cannot use
// ACTIONS_CACHE_SERVICE_V2, which names the version, because containers do not get that variable.)
//
// Programs that run workflows locally claim to be github.com. So NewCache also uses version 1 if
// ACTIONS_CACHE_URL is set and ACTIONS_RESULTS_URL has no TLS, which is never so on GitHub.
// NewCache does no I/O. Its error is [ErrUnavailable], or names the invalid option.
func NewCache(o Options) (*Cache, error) {
	o = o.withDefaults()
	v2 := hosted(o.ServerURL) && o.ResultsURL != "" && (o.CacheURL == "" || !plain(o.ResultsURL))
	address, name := o.CacheURL, "ACTIONS_CACHE_URL"
	if v2 {
		address, name = o.ResultsURL, "ACTIONS_RESULTS_URL"
	}
	c, err := o.serviceClient(address, name)
	if err != nil {
		return nil, fmt.Errorf("cache store: %w", err)
	}
	s := &Cache{client: c, repo: o.Repo, mode: o.CacheMode, sleep: o.Sleep, log: o.Log, saving: newSemaphore(), seen: map[int]storedEntry{}}
	s.service = &cacheV1{c, o.CacheVersion}
	if v2 {
		s.service = &cacheV2{c, o.CacheVersion, o.Sleep}
	}
	return s, nil
}

// hosted reports whether a server is github.com or ghe.com, and not an Enterprise Server.
func hosted(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "github.com" || strings.HasSuffix(host, ".ghe.com")
}

// plain reports whether an address has no TLS.
func plain(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http"
}

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

// look reads the newest entry, and remembers its number unless a save was made meanwhile. The
// returned entry is valid unless the error comes from the service.
func (s *Cache) look(ctx context.Context, issue int) (memory.Record, storedEntry, error) {
	if s.mode == "none" || s.mode == "write-only" {
		return memory.Record{}, storedEntry{}, s.modeError("read")
	}
	before := s.saved()
	var r memory.Record
	var now storedEntry
	number, from, err := s.newest(ctx, issue)
	if err == nil {
		now.number = number
		r, err = s.fetch(ctx, from, issue)
	}
	if isServiceError(err) {
		return memory.Record{}, storedEntry{}, err
	}
	now.revision, now.err = r.Revision, err
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saves == before {
		s.seen[issue] = now
	}
	return r, now, err
}

// newest finds the newest entry. It skips an entry whose key has our prefix but no number; if there
// is no other entry, the error is memory.ErrBroken. If there is no entry at all, the error is
// memory.ErrNotFound.
func (s *Cache) newest(ctx context.Context, issue int) (int, rpc.SignedURL, error) {
	number, from, err := s.find(ctx, prefix(issue), issue)
	if !errors.Is(err, errOddKey) {
		return number, from, err
	}
	s.log.Warn("skipped a cache entry: its key has no number", "prefix", prefix(issue))
	odd := broken(err)
	// In our own keys the number begins with a zero, so this longer prefix excludes keys of other
	// programs.
	number, from, err = s.find(ctx, prefix(issue)+"0", issue)
	if errors.Is(err, errOddKey) || errors.Is(err, memory.ErrNotFound) {
		return 0, rpc.SignedURL{}, odd
	}
	return number, from, err
}

// find returns the number of the newest entry whose key begins with start, and its address.
func (s *Cache) find(ctx context.Context, start string, issue int) (int, rpc.SignedURL, error) {
	key, from, err := s.service.find(ctx, start)
	if err != nil {
		return 0, rpc.SignedURL{}, denied(err)
	}
	if key == "" {
		return 0, rpc.SignedURL{}, memory.ErrNotFound
	}
	number, err := parseKey(key, issue)
	return number, from, err
}

// saved returns the number of saves so far.
func (s *Cache) saved() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saves
}

func (s *Cache) fetch(ctx context.Context, from rpc.SignedURL, issue int) (memory.Record, error) {
	got, err := s.client.Do(ctx, rpc.Request{What: "download the cache entry", Method: http.MethodGet, To: from, Limit: memory.MaxSize})
	switch {
	case errors.Is(err, rpc.ErrTooLarge), rpc.IsNotFound(err):
		return memory.Record{}, broken(err)
	case err != nil:
		return memory.Record{}, err
	}
	return memory.Decode(got.Body, s.repo, issue)
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
		return fmt.Errorf("%w, and a save has to read the stored record; the mode `write` permits it", s.modeError("read"))
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err != nil {
		return err
	}
	if err := s.saving.acquire(ctx); err != nil {
		return err
	}
	defer s.saving.release()
	now, err := s.current(ctx, r)
	if err != nil {
		return err
	}
	if err := checkRevision(r.Revision, now.revision, now.err); err != nil {
		return err
	}
	number, err := s.store(ctx, r.Issue, now, data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	s.seen[r.Issue] = storedEntry{number: number, revision: next.Revision}
	return nil
}

// current returns the newest known entry. It does not search if r is based on the entry that was
// seen last. If that entry is outdated, the next key is taken, and store notices it.
func (s *Cache) current(ctx context.Context, r memory.Record) (storedEntry, error) {
	s.mu.Lock()
	now, ok := s.seen[r.Issue]
	s.mu.Unlock()
	if ok && checkRevision(r.Revision, now.revision, now.err) == nil {
		return now, nil
	}
	_, now, err := s.look(ctx, r.Issue)
	if isServiceError(err) {
		return storedEntry{}, err
	}
	return now, nil
}

// store makes the next entry and returns its number.
func (s *Cache) store(ctx context.Context, issue int, now storedEntry, data []byte) (int, error) {
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
	// This is not a conflict, because another try would wait for the same time again.
	return 0, fmt.Errorf("the cache keys up to %s are reserved, but no entry is visible: "+
		"the service's search is behind, or programs were killed during a save: %w", key(issue, number), err)
}

// await waits for the entry of a taken key. The error is memory.ErrConflict if the entry appears.
// nil means that the entry did not appear, probably because its program was killed.
func (s *Cache) await(ctx context.Context, issue int, before storedEntry) error {
	for look, wait := 1, firstWait; look <= maxLooks; look, wait = look+1, 2*wait {
		if err := s.sleep(ctx, wait); err != nil {
			return err
		}
		_, now, err := s.look(ctx, issue)
		if isServiceError(err) {
			return err
		}
		if now.number != before.number {
			return fmt.Errorf("%w: revision %d was saved", memory.ErrConflict, now.revision)
		}
	}
	s.log.Warn("skipped an unfinished cache entry", "key", key(issue, before.number+1))
	return nil
}

// put makes the entry with a number. If the outcome of the upload is unknown, put searches for the
// entry. If the search does not find it, the entry is not saved.
func (s *Cache) put(ctx context.Context, issue, number int, data []byte) error {
	reserved, err := s.service.reserve(ctx, key(issue, number), len(data))
	if err != nil {
		return denied(err)
	}
	err = s.service.upload(ctx, reserved, data)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// The key is ours, so an entry under it is the one that was uploaded.
	if found, _, lost := s.service.find(ctx, key(issue, number)); lost == nil && found == key(issue, number) {
		return nil
	}
	return denied(err)
}

func (s *Cache) modeError(what string) error {
	return fmt.Errorf("%w: the job may not %s caches: ACTIONS_CACHE_MODE is %q", ErrDenied, what, s.mode)
}
