package results_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
)

// TestSuite runs the common test suite of memory stores. Two wrappers are necessary: perRepo,
// because a store of this package keeps one repository, and eachRun, because artifacts have no
// compare-and-swap.
func TestSuite(t *testing.T) {
	t.Parallel()
	stores := map[string]func(t *testing.T, s *resultstest.Server) memory.Store{
		"artifact, one run": func(t *testing.T, s *resultstest.Server) memory.Store { return artifact(t, options(s)) },
		"artifact, a run for each call": func(t *testing.T, s *resultstest.Server) memory.Store {
			return &eachRun{open: func() memory.Store { return artifact(t, options(s)) }}
		},
		"cache v2, one run": func(t *testing.T, s *resultstest.Server) memory.Store { return cache(t, options(s)) },
		"cache v2, a run for each call": func(t *testing.T, s *resultstest.Server) memory.Store {
			return &eachRun{open: func() memory.Store { return cache(t, options(s)) }}
		},
		"cache v1, one run": func(t *testing.T, s *resultstest.Server) memory.Store { return cache(t, v1(options(s))) },
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.Run(t, func(t *testing.T) memory.Store {
				return &perRepo{stores: map[string]memory.Store{}, open: func(repo string) memory.Store {
					// Some subtests use CamelCase, so that the suite covers each spelling of the
					// field names.
					return open(t, resultstest.New(t, resultstest.Config{Repo: repo, CamelCase: strings.HasSuffix(name, "one run")}))
				}}
			})
		})
	}
}

// TestAgenda runs the common test suite of stores that list scheduled closes.
func TestAgenda(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, s *resultstest.Server) memory.Agenda{
		"one run": func(t *testing.T, s *resultstest.Server) memory.Agenda { return artifact(t, options(s)) },
		"a run for each call": func(t *testing.T, s *resultstest.Server) memory.Agenda {
			return &eachRun{open: func() memory.Store { return artifact(t, options(s)) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda {
				return &perRepo{stores: map[string]memory.Store{}, open: func(repo string) memory.Store {
					return open(t, resultstest.New(t, resultstest.Config{Repo: repo, Now: time.Now}))
				}}
			})
		})
	}
}

// A perRepo gives each repository its own server and store. On GitHub, too, a job can use only the
// services of its own repository.
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
		repo = "org/repo" // its store has to refuse the invalid name
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

func (p *perRepo) Pending(ctx context.Context, repo string) ([]memory.Due, bool, error) {
	return p.store(repo).(memory.Agenda).Pending(ctx, repo)
}

func (p *perRepo) Acted(ctx context.Context, repo string, after time.Time) ([]memory.Due, bool, error) {
	return p.store(repo).(memory.Agenda).Acted(ctx, repo, after)
}

// An eachRun opens a new store for each call, as if each call were made by another run. Its lock
// plays the workflow's "concurrency:", which allows one run per issue at a time.
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

func (e *eachRun) Pending(ctx context.Context, repo string) ([]memory.Due, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open().(memory.Agenda).Pending(ctx, repo)
}

func (e *eachRun) Acted(ctx context.Context, repo string, after time.Time) ([]memory.Due, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open().(memory.Agenda).Acted(ctx, repo, after)
}

// TestOtherRepository checks a case that perRepo hides: a store refuses records of other
// repositories.
func TestOtherRepository(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	for _, store := range []memory.Store{artifact(t, options(s)), cache(t, options(s))} {
		const want = "this store keeps the memory of org/repo only"
		if _, err := store.Load(t.Context(), "org/other", 7); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load: got %v, want %s", err, want)
		}
		if err := store.Save(t.Context(), memorytest.Sample("org/other", 7)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Save: got %v, want %s", err, want)
		}
	}
	if calls := s.Calls(); len(calls) != 0 {
		t.Errorf("got %d calls, want none", len(calls))
	}
}
