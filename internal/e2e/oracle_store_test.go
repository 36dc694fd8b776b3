package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
)

// The repository whose memory is kept, and its id.
const (
	ownRepo   = "org/repo"
	ownRepoID = 1001
)

// jobOptions returns the options of a job on the default branch of a repository, on a server that
// is not GitHub's own. No request waits for the next try.
func jobOptions(repo, token string) results.Options {
	return results.Options{
		Repo: repo, RepositoryID: ownRepoID, DefaultBranch: "main", RuntimeToken: token,
		ServerURL: "https://github.example.com",
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// TestMemorySuite runs the suite of all memory stores against both servers of act. All of it
// passes for jobs that run one after the other. Act has limits that show only where two jobs
// save at once, which is not tested here:
//   - the cache takes a key twice without a word, so of two jobs that have both
//     looked before, both save, and the first one's record is lost;
//   - the artifact server empties an artifact when the same run makes it again, and
//     shows what was never finished, so a load beside a save of the same run finds
//     the record broken; and with one id for all artifacts of a name, two jobs of a
//     run do not see that the other one has saved.
//
// [TestArtifactRace] has two runs, which act does keep apart. [TestClientRace] is
// about keys that are given once.
func TestMemorySuite(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, repo string) memory.Store{
		"artifact, one run": func(t *testing.T, repo string) memory.Store {
			store := newArtifactServer(t).store(repo, 1)
			return &eachRun{open: func() memory.Store { return store }}
		},
		"artifact, a run for each call": func(t *testing.T, repo string) memory.Store {
			s, run := newArtifactServer(t), int64(0)
			return &eachRun{open: func() memory.Store {
				run++
				return s.store(repo, run)
			}}
		},
		"cache, one job": func(t *testing.T, repo string) memory.Store { return newCacheServer(t).store(repo) },
		"cache, a job for each call": func(t *testing.T, repo string) memory.Store {
			s := newCacheServer(t)
			return &eachRun{open: func() memory.Store { return s.store(repo) }}
		},
	}
	for name, open := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.Run(t, func(t *testing.T) memory.Store {
				return &perRepo{stores: map[string]memory.Store{}, open: func(repo string) memory.Store { return open(t, repo) }}
			})
		})
	}
}

// A perRepo gives each repository a server of its own: a job has the services of its
// own repository only, and act knows no repositories.
type perRepo struct {
	open func(repo string) memory.Store

	mu     sync.Mutex
	stores map[string]memory.Store
}

func (p *perRepo) store(repo string) memory.Store {
	p.mu.Lock()
	defer p.mu.Unlock()
	repo = strings.ToLower(repo)
	if _, err := memory.Key(repo, 1); err != nil {
		repo = ownRepo // whose store has to refuse
	}
	if p.stores[repo] == nil {
		p.stores[repo] = p.open(repo)
	}
	return p.stores[repo]
}

func (p *perRepo) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	return p.store(repo).Load(ctx, repo, issue)
}

func (p *perRepo) Save(ctx context.Context, r memory.Record) error {
	return p.store(r.Repo).Save(ctx, r)
}

// An eachRun opens a store for each call. Its lock is the workflow's "concurrency:",
// which keeps the jobs of an issue apart.
type eachRun struct {
	mu   sync.Mutex
	open func() memory.Store
}

func (e *eachRun) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open().Load(ctx, repo, issue)
}

func (e *eachRun) Save(ctx context.Context, r memory.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open().Save(ctx, r)
}

// A hook is a transport that calls before on each request.
type hook struct {
	before func(*http.Request) error
	next   http.RoundTripper
}

func (h hook) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := h.before(r); err != nil {
		return nil, err
	}
	return h.next.RoundTrip(r)
}

// sample is a record of an issue at a revision. What it is about differs with both.
func sample(issue, revision int) memory.Record {
	r := memorytest.Sample(ownRepo, issue)
	r.Revision = revision
	r.Tasks[0].At = r.Tasks[0].At.Add(time.Duration(1000*issue+revision) * time.Second)
	return r
}

// stored returns a saved record as the store returns it, with the next revision.
func stored(r memory.Record) memory.Record {
	r.Schema = memory.Schema
	r.Revision++
	return r
}

// encoded is the form in which a record is stored.
func encoded(t *testing.T, r memory.Record) []byte {
	t.Helper()
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func saves(t *testing.T, s memory.Store, r memory.Record) {
	t.Helper()
	if err := s.Save(t.Context(), r); err != nil {
		t.Fatalf("Save of issue %d at revision %d: %v", r.Issue, r.Revision, err)
	}
}

func conflicts(t *testing.T, s memory.Store, r memory.Record) {
	t.Helper()
	if err := s.Save(t.Context(), r); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("Save of issue %d at revision %d: got %v, want ErrConflict", r.Issue, r.Revision, err)
	}
}

// loads wants the record in a store.
func loads(t *testing.T, s memory.Store, want memory.Record) {
	t.Helper()
	got, err := s.Load(t.Context(), ownRepo, want.Issue)
	if err != nil {
		t.Fatalf("Load of issue %d: %v", want.Issue, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("issue %d (-want +loaded):\n%s", want.Issue, diff)
	}
}

// empty wants nothing in a store.
func empty(t *testing.T, s memory.Store, issue int) {
	t.Helper()
	if _, err := s.Load(t.Context(), ownRepo, issue); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load of issue %d: got %v, want ErrNotFound", issue, err)
	}
}
