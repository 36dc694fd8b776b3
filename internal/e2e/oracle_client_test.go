package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	actionscache "github.com/tonistiigi/go-actions-cache"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// A service is a cache service that our store and another project's client share.
type service struct {
	options results.Options
	v2      bool
}

// fakes returns our fake in both versions of the service. It accepts each key only once.
func fakes() map[string]func(t *testing.T) service {
	open := func(t *testing.T) (*resultstest.Server, results.Options) {
		s := resultstest.New(t, resultstest.Config{Repo: ownRepo, RepositoryID: ownRepoID})
		return s, jobOptions(ownRepo, s.RuntimeToken(resultstest.Job{}))
	}
	return map[string]func(t *testing.T) service{
		"fake, version 2": func(t *testing.T) service {
			s, o := open(t)
			o.ServerURL, o.ResultsURL = "https://github.com", s.URL
			return service{o, true}
		},
		"fake, version 1": func(t *testing.T) service {
			s, o := open(t)
			o.CacheURL = s.URL
			return service{o, false}
		},
	}
}

// services returns the fakes and act's server. In the test with act's server, both the service and
// the other client are from other projects.
func services() map[string]func(t *testing.T) service {
	all := fakes()
	all["act"] = func(t *testing.T) service { return service{newCacheServer(t).options(ownRepo), false} }
	return all
}

// between runs a test on each service, with our store and the other client.
func between(t *testing.T, services map[string]func(t *testing.T) service, test func(*testing.T, *results.Cache, otherClient)) {
	t.Helper()
	for name, open := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			// The client always uses this version of entries; no option changes it.
			s.options.CacheVersion = fmt.Sprintf("%x", sha256.Sum256([]byte("|go-actionscache-1.0")))
			ours, err := results.NewCache(s.options)
			if err != nil {
				t.Fatal(err)
			}
			test(t, ours, newOtherClient(t, s))
		})
	}
}

// TestClientReads checks that the other client finds entries of our store, by prefix and by key.
func TestClientReads(t *testing.T) {
	t.Parallel()
	between(t, services(), func(t *testing.T, ours *results.Cache, other otherClient) {
		other.finds("", nil, keys(7))
		saves(t, ours, sample(7, 0))
		saves(t, ours, sample(7, 1))
		saves(t, ours, sample(71, 0))
		other.finds(key(7, 2), encoded(t, stored(sample(7, 1))), keys(7))
		other.finds(key(7, 1), encoded(t, stored(sample(7, 0))), key(7, 1))
		other.finds(key(71, 1), encoded(t, stored(sample(71, 0))), keys(71))
		other.finds(key(71, 1), encoded(t, stored(sample(71, 0))), keys(1), keys(71))
		other.finds("", nil, keys(1), keys(70))
	})
}

// TestClientWrites checks that our store loads entries of the other client, and saves newer ones.
func TestClientWrites(t *testing.T) {
	t.Parallel()
	between(t, services(), func(t *testing.T, ours *results.Cache, other otherClient) {
		for revision := range 2 {
			for _, issue := range []int{7, 71} {
				other.saves(key(issue, revision+1), encoded(t, stored(sample(issue, revision))))
			}
		}
		loads(t, ours, stored(sample(7, 1)))
		loads(t, ours, stored(sample(71, 1)))
		empty(t, ours, 1)
		conflicts(t, ours, sample(7, 1))
		saves(t, ours, sample(7, 2))
		other.finds(key(7, 3), encoded(t, stored(sample(7, 2))), keys(7))
		other.saves(key(7, 4), encoded(t, stored(sample(7, 3))))
		loads(t, ours, stored(sample(7, 3)))
		// The other client saves a broken record, and our store replaces it.
		other.saves(key(7, 5), []byte("no record"))
		if _, err := ours.Load(t.Context(), ownRepo, 7); !errors.Is(err, memory.ErrBroken) {
			t.Errorf("Load of what is no record: got %v, want ErrBroken", err)
		}
		saves(t, ours, sample(7, 0))
		other.finds(key(7, 6), encoded(t, stored(sample(7, 0))), keys(7))
	})
}

// TestClientRace uses services that accept a key only once. The second client to use a key gets an
// error, whichever of the two it is.
func TestClientRace(t *testing.T) {
	t.Parallel()
	between(t, fakes(), func(t *testing.T, ours *results.Cache, other otherClient) {
		saves(t, ours, sample(7, 0))
		if err := other.save(key(7, 1), []byte("too late")); !errors.Is(err, os.ErrExist) {
			t.Errorf("the other client: got %v, want %v", err, os.ErrExist)
		}
		// Our store knows only revision 1, and does not look again before it saves.
		other.saves(key(7, 2), encoded(t, stored(sample(7, 1))))
		rival := sample(7, 1)
		rival.Tasks[0].Rationale = "another one"
		conflicts(t, ours, rival)
		loads(t, ours, stored(sample(7, 1)))
		other.finds(key(7, 2), encoded(t, stored(sample(7, 1))), keys(7))
	})
}

// keys returns the prefix of an issue's keys.
func keys(issue int) string { return fmt.Sprintf("foreman/v1/i%d/", issue) }

func key(issue, number int) string { return fmt.Sprintf("foreman/v1/i%d/%010d", issue, number) }

// An otherClient is BuildKit's client for cache services.
type otherClient struct {
	t *testing.T
	*actionscache.Cache
}

func newOtherClient(t *testing.T, s service) otherClient {
	t.Helper()
	url, via := s.options.CacheURL, s.options.Transport
	if s.v2 {
		url = s.options.ResultsURL
	}
	if via == nil {
		via = http.DefaultTransport
	}
	// The default backoff pool is shared by all clients, and its longest wait is minutes.
	opt := actionscache.Opt{Client: &http.Client{Transport: via}, Timeout: time.Minute, BackoffPool: &actionscache.BackoffPool{}}
	cache, err := actionscache.New(s.options.RuntimeToken, url, s.v2, opt)
	if err != nil {
		t.Fatal(err)
	}
	return otherClient{t, cache}
}

func (c otherClient) save(key string, data []byte) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	return c.Save(ctx, key, actionscache.NewBlob(data))
}

func (c otherClient) saves(key string, data []byte) {
	c.t.Helper()
	if err := c.save(key, data); err != nil {
		c.t.Fatalf("the other client saves %s: %v", key, err)
	}
}

// finds checks that the client finds the entry key, with this data, when it looks for keys. It
// matches the first of keys exactly, and each of keys as a prefix. An empty key means that it
// finds none.
func (c otherClient) finds(key string, data []byte, keys ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	entry, err := c.Load(ctx, keys...)
	switch {
	case err != nil:
		c.t.Fatalf("the other client looks for %q: %v", keys, err)
	case entry == nil && key == "":
		return
	case entry == nil || key == "" || entry.Key != key:
		c.t.Errorf("the other client looks for %q: got %+v, want %q", keys, entry, key)
		return
	}
	var got bytes.Buffer
	if err := entry.WriteTo(ctx, &got); err != nil {
		c.t.Fatalf("the other client downloads %s: %v", key, err)
	}
	if !bytes.Equal(got.Bytes(), data) {
		c.t.Errorf("%s: the other client got\n%s\nwant\n%s", key, got.Bytes(), data)
	}
}
