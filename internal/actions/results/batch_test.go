package results_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// saveTask adds a task to the record of an issue.
func saveTask(t *testing.T, s memory.Store, issue int, id string) {
	t.Helper()
	_, err := memory.Update(t.Context(), s, "org/repo", issue, func(r *memory.Record) error {
		r.Put(memory.Task{ID: id, By: "rules"})
		return nil
	})
	if err != nil {
		t.Fatalf("save %s of #%d: %v", id, issue, err)
	}
}

// listings returns the number of calls that listed artifacts.
func listings(s *resultstest.Server) int {
	return strings.Count(methods(s)+"\n", "GET artifacts\n")
}

// taskIDs returns the ids of the tasks in the record of an issue, as another run reads it.
func taskIDs(t *testing.T, s *resultstest.Server, issue int) string {
	t.Helper()
	r, err := artifact(t, options(s)).Load(t.Context(), "org/repo", issue)
	if err != nil {
		return err.Error()
	}
	var ids []string
	for _, task := range r.Tasks {
		ids = append(ids, task.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestBatch saves many records and expects two lists of artifacts: one before and one after.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	saveTask(t, artifact(t, options(s)), 3, "earlier")
	store := artifact(t, options(s))
	before := listings(s)
	if _, _, err := store.Pending(t.Context(), "org/repo"); err != nil {
		t.Fatal(err)
	}
	store.Defer()
	for issue := range 5 {
		saveTask(t, store, issue+1, "now")
	}
	if lost, err := store.Settle(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("got %v lost, %v", lost, err)
	}
	if n := listings(s) - before; n != 2 {
		t.Errorf("got %d lists, want 2:\n%s", n, methods(s))
	}
	for issue := range 5 {
		want := "now"
		if issue == 2 {
			want = "earlier now"
		}
		if got := taskIDs(t, s, issue+1); got != want {
			t.Errorf("#%d: got %s, want %s", issue+1, got, want)
		}
	}
	if lost, err := store.Settle(t.Context()); err != nil || lost != nil {
		t.Errorf("nothing left: got %v, %v", lost, err)
	}
}

// TestBatchTwice saves a record twice in one batch.
func TestBatchTwice(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	store := artifact(t, options(s))
	store.Defer()
	saveTask(t, store, 1, "a")
	saveTask(t, store, 1, "b")
	if lost, err := store.Settle(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("got %v lost, %v", lost, err)
	}
	if got := taskIDs(t, s, 1); got != "a b" {
		t.Errorf("got %s", got)
	}
}

// TestBatchLost checks that a batch finds a record that another run has saved meanwhile. The batch
// removes its own artifact, and the caller saves the record again.
func TestBatchLost(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{true, false} {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprint(when, listed), func(t *testing.T) {
				t.Parallel()
				s := resultstest.New(t, resultstest.Config{})
				store := artifact(t, options(s))
				if listed {
					if _, _, err := store.Pending(t.Context(), "org/repo"); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := store.Load(t.Context(), "org/repo", 1); err == nil {
					t.Fatal("there is a record")
				}
				store.Defer()
				if when == "before" {
					saveTask(t, artifact(t, options(s)), 1, "other")
				}
				saveTask(t, store, 1, "ours")
				saveTask(t, store, 2, "ours")
				if when == "after" {
					saveTask(t, artifact(t, options(s)), 1, "other")
				}
				lost, err := store.Settle(t.Context())
				if err != nil || !slices.Equal(lost, []int{1}) {
					t.Fatalf("got %v lost, %v, want #1", lost, err)
				}
				saveTask(t, store, 1, "ours")
				if got := taskIDs(t, s, 1); got != "other ours" {
					t.Errorf("got %s", got)
				}
			})
		}
	}
}

// TestBatchUnsure checks two cases. If there are too many artifacts to list, a batch checks each
// record with a list of its own. If the list fails, the batch succeeds without a check.
func TestBatchUnsure(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	o := options(s)
	at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	o.Now = func() time.Time { return at }
	store := artifact(t, o)
	if _, _, err := store.Pending(t.Context(), "org/repo"); err != nil {
		t.Fatal(err)
	}
	store.Defer()
	saveTask(t, store, 1, "a")
	for range 2000 {
		s.Add(resultstest.Artifact{Name: "coverage"})
	}
	if lost, err := store.Settle(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("a flood: got %v lost, %v", lost, err)
	}
	store.Defer()
	saveTask(t, store, 2, "a")
	s.Deny(resultstest.ActionsRead, true)
	if lost, err := store.Settle(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("denied: got %v lost, %v", lost, err)
	}
}

// TestListsAge checks that a list of artifacts is read again after a minute.
func TestListsAge(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	o := options(s)
	at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	o.Now = func() time.Time { return at }
	store := artifact(t, o)
	saveTask(t, store, 1, "a")
	saveTask(t, artifact(t, options(s)), 1, "b")
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{time.Second, 1}, {time.Minute, 2}} {
		at = at.Add(tt.after)
		if r, err := store.Load(t.Context(), "org/repo", 1); err != nil || len(r.Tasks) != tt.want {
			t.Errorf("after %s: got %d tasks, %v, want %d", tt.after, len(r.Tasks), err, tt.want)
		}
	}
}

// TestBatchBaseTakenBack saves a record that is based on an earlier artifact, which then is gone.
// If the earlier artifact was a minute old, its own run has removed it, and the batch removes the
// new one too. If it was two hours old, it was deleted by hand or expired, and the new one stays.
func TestBatchBaseTakenBack(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]int{time.Minute: 1, 2 * time.Hour: 0} {
		s := resultstest.New(t, resultstest.Config{})
		base := zipOf(t, record(2))
		o := options(s)
		info := results.Info{
			ID: 900, Name: "foreman-memory-i7", Digest: results.Digest(base), CreatedAt: o.Now().Add(-age),
			WorkflowRun: results.Run{RepositoryID: s.RepositoryID(), HeadRepositoryID: s.RepositoryID(), HeadBranch: s.Branch()},
		}
		o.Reader = &vanishing{&reader{list: []results.Info{info}, zips: map[int64][]byte{info.ID: base}}, s}
		store := artifact(t, o)
		if _, _, err := store.Pending(t.Context(), "org/repo"); err != nil {
			t.Fatal(err)
		}
		store.Defer()
		if err := store.Save(t.Context(), record(2)); err != nil {
			t.Fatal(err)
		}
		if lost, err := store.Settle(t.Context()); err != nil || len(lost) != want {
			t.Errorf("made %s ago: got %v lost, %v, want %d", age, lost, err, want)
		}
	}
}
