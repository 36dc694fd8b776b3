package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nektos/act/pkg/artifactcache"
	"github.com/nektos/act/pkg/common"
	"github.com/timshannon/bolthold"

	"github.com/org/foreman-action/internal/actions/results"
)

// TestCacheJobs saves and loads in consecutive jobs.
func TestCacheJobs(t *testing.T) {
	t.Parallel()
	s := newCacheServer(t)
	first := s.store(ownRepo)
	empty(t, first, 7)
	saves(t, first, sample(7, 0))
	second := s.store(ownRepo)
	loads(t, second, stored(sample(7, 0)))
	saves(t, second, sample(7, 1))
	saves(t, second, sample(7, 2))
	third := s.store(ownRepo)
	for revision := range 3 {
		conflicts(t, third, sample(7, revision))
	}
	loads(t, first, stored(sample(7, 2)))
	conflicts(t, first, sample(7, 0))
	saves(t, third, sample(7, 3))
	loads(t, second, stored(sample(7, 3)))
}

// TestCachePrefix checks that issues whose numbers have a common prefix, such as 7 and 71, do not
// share entries.
func TestCachePrefix(t *testing.T) {
	t.Parallel()
	s := newCacheServer(t)
	store := s.store(ownRepo)
	saves(t, store, sample(7, 0))
	empty(t, s.store(ownRepo), 71)
	saves(t, store, sample(71, 0))
	saves(t, store, sample(71, 1))
	empty(t, s.store(ownRepo), 1)
	loads(t, s.store(ownRepo), stored(sample(7, 0)))
	loads(t, s.store(ownRepo), stored(sample(71, 1)))
	saves(t, s.store(ownRepo), sample(7, 1))
	loads(t, s.store(ownRepo), stored(sample(7, 1)))
	loads(t, s.store(ownRepo), stored(sample(71, 1)))
}

// TestCacheVersion checks that stores with different cache versions do not share entries.
func TestCacheVersion(t *testing.T) {
	t.Parallel()
	s := newCacheServer(t)
	saves(t, s.store(ownRepo), sample(7, 0))
	options := s.options(ownRepo)
	options.CacheVersion = "another"
	other, err := results.NewCache(options)
	if err != nil {
		t.Fatal(err)
	}
	empty(t, other, 7)
	loads(t, s.store(ownRepo), stored(sample(7, 0)))
}

// A cacheServer is act's cache server, which implements version 1 of the service.
type cacheServer struct {
	t    *testing.T
	dir  string
	url  string // contains act's secret in the path
	past http.RoundTripper
}

func newCacheServer(t *testing.T) *cacheServer {
	t.Helper()
	s := &cacheServer{t: t, dir: t.TempDir()}
	handler, err := artifactcache.StartHandler(s.dir, "", "127.0.0.1", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handler.Close(); err != nil {
			t.Error(err)
		}
	})
	s.url = handler.ExternalURL()
	s.past = hook{s.age, http.DefaultTransport}
	return s
}

// store returns the store of a job.
func (s *cacheServer) store(repo string) *results.Cache {
	s.t.Helper()
	store, err := results.NewCache(s.options(repo))
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// options are those that act gives a job.
func (s *cacheServer) options(repo string) results.Options {
	s.t.Helper()
	o := jobOptions(repo, jobToken(s.t))
	o.CacheURL = s.url + "/"
	o.Transport = s.past
	return o
}

func jobToken(t *testing.T) string {
	t.Helper()
	token, err := common.CreateAuthorizationToken(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// age makes all entries one second older before a key is reserved. act stores times in whole
// seconds, so the order of two entries within a second is undefined. age avoids this without
// waiting.
func (s *cacheServer) age(r *http.Request) error {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/caches") {
		return nil
	}
	db, err := bolthold.Open(filepath.Join(s.dir, "bolt.db"), 0o644, &bolthold.Options{Encoder: json.Marshal, Decoder: json.Unmarshal})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.UpdateMatching(&artifactcache.Cache{}, nil, func(record any) error {
		record.(*artifactcache.Cache).CreatedAt--
		return nil
	})
}
