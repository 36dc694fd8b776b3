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

// The repository to which the memory belongs, and its ID.
const (
	ownRepo   = "org/repo"
	ownRepoID = 1001
)

// jobOptions returns the options of a job on the default branch of a repository, on a server other
// than github.com. Retries do not wait.
func jobOptions(repo, token string) results.Options {
	return results.Options{
		Repo: repo, RepositoryID: ownRepoID, DefaultBranch: "main", RuntimeToken: token,
		ServerURL: "https://github.example.com",
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// TestMemorySuite runs the suite for memory stores against act's cache server and act's artifact
// server. It passes for jobs that run one after another. With two jobs that save at the same time,
// act differs from GitHub; this is not tested here:
//   - The cache server accepts a key twice. If two jobs load before either saves,
//     both can save, and the first job's record is lost.
//   - The artifact server empties an artifact when the same run creates it again, and
//     lists unfinished artifacts. So a load during a save of the same run finds a
//     broken record. All artifacts of a name have one ID, so two jobs of a run do
//     not notice each other's saves.
//
// [TestArtifactRace] has two runs, which act distinguishes. [TestClientRace] uses services that
// accept a key only once.
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

// A perRepo uses a separate server for each repository. On GitHub, a job has only the services of
// its own repository, but act does not distinguish repositories.
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
		repo = ownRepo // its store must refuse the invalid name
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

// An eachRun opens a new store for each call, as each run of a workflow does. Its lock stands for
// the workflow's "concurrency:", which runs the jobs of an issue one after another.
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

// sample returns a record of an issue at a revision. The content depends on both numbers.
func sample(issue, revision int) memory.Record {
	r := memorytest.Sample(ownRepo, issue)
	r.Revision = revision
	r.Tasks[0].At = r.Tasks[0].At.Add(time.Duration(1000*issue+revision) * time.Second)
	return r
}

// stored returns a saved record as the store returns it, with the next revision.
func stored(r memory.Record) memory.Record {
	r.Schema = r.StoredSchema()
	r.Revision++
	return r
}

// encoded returns the stored form of a record.
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

// loads checks that the store returns this record.
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

// empty checks that the store has no record of an issue.
func empty(t *testing.T, s memory.Store, issue int) {
	t.Helper()
	if _, err := s.Load(t.Context(), ownRepo, issue); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load of issue %d: got %v, want ErrNotFound", issue, err)
	}
}
