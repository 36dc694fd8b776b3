package results_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// held stops a Save of first at a call, runs between, and lets the Save continue. It returns the
// error of that Save.
func held(t *testing.T, s *resultstest.Server, first memory.Store, at resultstest.Fault, between func()) error {
	t.Helper()
	return heldAt(t, s, at, func() error { return first.Save(t.Context(), record(0)) }, between)
}

func heldAt(t *testing.T, s *resultstest.Server, at resultstest.Fault, first func() error, between func()) error {
	t.Helper()
	reached, hold := make(chan struct{}), make(chan struct{})
	at.Reached, at.Hold = reached, hold
	s.Fault(at)
	done := make(chan error, 1)
	go func() { done <- first() }()
	<-reached
	between()
	close(hold)
	return <-done
}

// TestTwoRuns lets a second run save completely while a first one is stopped at one of its
// requests. The next run must load the record of the run whose save succeeded.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path   string
		nth    int
		second int // the stored revision when the second run saves
	}{
		"before the name":      {"/twirp/*/CreateArtifact", 1, 0},
		"before the upload":    {"/blob/*", 1, 0},
		"before the end":       {"/twirp/*/FinalizeArtifact", 1, 0},
		"before the look back": {"/repos/*/*/actions/artifacts", 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resultstest.New(t, resultstest.Config{})
			first, second := artifact(t, options(s)), artifact(t, options(s))
			err := held(t, s, first, resultstest.Fault{Path: tt.path, Nth: tt.nth}, func() { save(t, second, record(tt.second)) })
			if !errors.Is(err, memory.ErrConflict) {
				t.Errorf("first run: got %v, want ErrConflict", err)
			}
			if list := s.Artifacts(); len(list) != 1 {
				t.Errorf("got %d artifacts, want that of the second run", len(list))
			}
			if r := load(t, artifact(t, options(s))); r.Revision != tt.second+1 {
				t.Errorf("got revision %d, want %d", r.Revision, tt.second+1)
			}
		})
	}
}

// TestBothTakeBack lets two runs finish their uploads before either checks for a conflict. At most
// one of them may report a successful save.
func TestBothTakeBack(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	const path = "/repos/*/*/actions/artifacts"
	// Each run lists the artifacts once, after it has finished its upload.
	looked, goOn := make(chan struct{}), make(chan struct{})
	finished, lookBack := make(chan struct{}), make(chan struct{})
	s.Fault(resultstest.Fault{Path: "/twirp/*/CreateArtifact", Times: 2, Reached: looked, Hold: goOn})
	s.Fault(resultstest.Fault{Path: path, Nth: 1, Times: 2, Reached: finished, Hold: lookBack})
	errs := make(chan error, 2)
	for range 2 {
		store := artifact(t, options(s))
		go func() { errs <- store.Save(t.Context(), record(0)) }()
	}
	<-looked
	<-looked
	close(goOn)
	<-finished
	<-finished
	close(lookBack)
	saved := 0
	for range 2 {
		if err := <-errs; err == nil {
			saved++
		} else if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
	if list := s.Artifacts(); saved > 1 || len(list) != saved {
		t.Errorf("got %d saves and %d artifacts, want the same and at most one", saved, len(list))
	}
}

// TestPairs saves with two runs at a time, without a "concurrency:" block. No task may be lost.
func TestPairs(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	const rounds = 10
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range 2 {
			store := artifact(t, options(s))
			wg.Go(func() { put(t, store, fmt.Sprint(round, " ", i)) })
		}
		wg.Wait()
		if r := load(t, artifact(t, options(s))); len(r.Tasks) != 2*(round+1) {
			t.Fatalf("round %d: got %d tasks, want %d", round, len(r.Tasks), 2*(round+1))
		}
	}
}

// put adds a task. It tries again after each conflict, without limit.
func put(t *testing.T, store memory.Store, id string) {
	for {
		_, err := memory.Update(t.Context(), store, "org/repo", 7, func(r *memory.Record) error {
			r.Put(memory.Task{ID: id, By: "rules"})
			return nil
		})
		if err == nil {
			return
		}
		if !errors.Is(err, memory.ErrConflict) {
			t.Errorf("%s: %v", id, err)
			return
		}
	}
}

// TestBaseTakenBack lets another run remove the record on which ours is based before we have
// finished. Our record must be removed too.
func TestBaseTakenBack(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	base := zipOf(t, record(2))
	info := results.Info{
		ID: 900, Name: "foreman-memory-i7", Digest: results.Digest(base),
		WorkflowRun: results.Run{RepositoryID: s.RepositoryID(), HeadRepositoryID: s.RepositoryID(), HeadBranch: s.Branch()},
	}
	o := options(s)
	// The list before the upload contains the base. The list after it contains only our artifact.
	o.Reader = &vanishing{&reader{list: []results.Info{info}, zips: map[int64][]byte{info.ID: base}}, s}
	if err := artifact(t, o).Save(t.Context(), record(2)); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if list := s.Artifacts(); len(list) != 0 {
		t.Errorf("got %d artifacts, want ours taken back", len(list))
	}
}

// A vanishing reader returns its own list once, then the server's.
type vanishing struct {
	*reader
	s *resultstest.Server
}

func (v *vanishing) List(context.Context, string) ([]results.Info, error) {
	if list := v.list; list != nil {
		v.list = nil
		return list, nil
	}
	return infos(v.s), nil
}

// TestCacheTwoRuns lets a slow first run reserve the key. The second run waits until the entry is
// visible, and gets ErrConflict.
func TestCacheTwoRuns(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v2", "v1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := resultstest.New(t, resultstest.Config{})
			o, path := options(s), "/twirp/*/FinalizeCacheEntryUpload"
			if version == "v1" {
				o, path = v1(o), "/_apis/artifactcache/caches/*"
			}
			first := cache(t, o)
			waited, finished := make(chan struct{}), make(chan struct{})
			o.Sleep = func(ctx context.Context, _ time.Duration) error {
				select {
				case waited <- struct{}{}: // only in the first call
					<-finished
				case <-finished:
				}
				return ctx.Err()
			}
			second := cache(t, o)
			var lost error
			done := make(chan struct{})
			err := held(t, s, first, resultstest.Fault{Path: path}, func() {
				go func() {
					lost = second.Save(t.Context(), record(0))
					close(done)
				}()
				<-waited
			})
			close(finished)
			<-done
			if err != nil || !errors.Is(lost, memory.ErrConflict) {
				t.Errorf("got %v and %v, want nothing and ErrConflict", err, lost)
			}
			if list := s.Caches(); len(list) != 1 {
				t.Errorf("got %d entries, want 1", len(list))
			}
		})
	}
}

func (v *vanishing) Recent(ctx context.Context, _ int64) ([]results.Info, bool, error) {
	list, err := v.List(ctx, "")
	return list, true, err
}

// TestTwoRunsCount lets two runs count outcomes at a time in the record of the repository: the same one and one of their
// own. Each counts once.
func TestTwoRunsCount(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	k := memory.PairKey{Source: "rule:0123456789abcdef", Action: "add_label", Value: "bug"}
	at := time.Date(2026, 4, 10, 8, 0, 0, 0, time.UTC)
	count := func(store memory.Store, issues ...int) {
		change := func(r *memory.Record) error {
			o := memory.Outcomes{}
			if r.Outcomes != nil {
				o = *r.Outcomes
			}
			for _, issue := range issues {
				o.Count(k, "crash", memory.Result{Outcome: memory.OutcomeUndone, Issue: issue, Acted: at, At: at}, memory.Threshold{Bound: 0.85, Of: 20})
			}
			r.Outcomes = &o
			return nil
		}
		for {
			if _, err := memory.Update(t.Context(), store, "org/repo", memory.Repository, change); !errors.Is(err, memory.ErrConflict) {
				if err != nil {
					t.Error(err)
				}
				return
			}
		}
	}
	const rounds = 5
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range 2 {
			store := artifact(t, options(s))
			wg.Go(func() { count(store, 10*round+3, 10*round+1+i) })
		}
		wg.Wait()
		r, err := artifact(t, options(s)).Load(t.Context(), "org/repo", memory.Repository)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := r.Outcomes.Pair(k); p.Undone != 3*(round+1) {
			t.Fatalf("round %d: got %+v", round, p)
		}
	}
}
