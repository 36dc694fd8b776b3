package memorytest

import (
	"context"
	"errors"
	"testing"

	"github.com/org/foreman-action/memory"
)

// A Deletable is a store and a journal over one medium whose records can be deleted.
type Deletable struct {
	memory.Store
	memory.Journal
	// Delete deletes the record of an issue and its ledgers, and returns what it deleted, for people.
	Delete func(ctx context.Context, repo string, issue int) ([]string, error)
}

// RunDelete runs the tests that the deletion of records must pass. open returns an empty store. It is called
// once per subtest and may use t.Cleanup to close the store.
func RunDelete(t *testing.T, open func(t *testing.T) Deletable) {
	t.Helper()
	runSuite(t, open, []subtest[Deletable]{
		{"delete one record", deleteOne},
		{"delete nothing", deleteNothing},
		{"delete cancelled", deleteCancelled},
	})
}

// deleteOne deletes the record and the ledgers of one issue, and begins it anew. Those of others with similar
// names stay.
func deleteOne(t *testing.T, d Deletable) {
	issues := []struct {
		repo  string
		issue int
	}{
		{"org/repo", 4}, {"org/repo", 42}, {"org/repo", 421}, {"org/repo", memory.Repository}, {"org/repo2", 42}, {"other/repo", 42}, {"org/repo.journal", 42},
	}
	for _, one := range issues {
		r := Sample(one.repo, one.issue)
		if one.issue == memory.Repository {
			r = memory.Record{Repo: one.repo}
		}
		err := d.Save(t.Context(), r)
		if one.issue != memory.Repository {
			err = errors.Join(err, d.Begin(t.Context(), SampleLedger(SampleKey(one.repo, one.issue))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := d.Delete(t.Context(), "Org/Repo", 42)
	if err != nil || len(deleted) != 2 {
		t.Fatalf("deleted %q, error %v", deleted, err)
	}
	for _, one := range issues {
		gone := one.repo == "org/repo" && one.issue == 42
		if _, err := d.Load(t.Context(), one.repo, one.issue); errors.Is(err, memory.ErrNotFound) != gone {
			t.Errorf("record of %s#%d: got %v", one.repo, one.issue, err)
		}
		if one.issue == memory.Repository {
			continue
		}
		if _, err := d.Ledger(t.Context(), SampleKey(one.repo, one.issue)); errors.Is(err, memory.ErrNotFound) != gone {
			t.Errorf("ledger of %s#%d: got %v", one.repo, one.issue, err)
		}
	}
	err = errors.Join(d.Save(t.Context(), Sample("org/repo", 42)), d.Begin(t.Context(), SampleLedger(SampleKey("org/repo", 42))))
	if err != nil {
		t.Errorf("begin anew: %v", err)
	}
	if deleted, err := d.Delete(t.Context(), "org/repo", memory.Repository); err != nil || len(deleted) != 1 {
		t.Errorf("the record of the repository: deleted %q, error %v", deleted, err)
	}
}

// deleteNothing deletes nothing of an empty store, and refuses wrong names.
func deleteNothing(t *testing.T, d Deletable) {
	if deleted, err := d.Delete(t.Context(), "org/repo", 42); err != nil || len(deleted) > 0 {
		t.Errorf("deleted %q, error %v", deleted, err)
	}
	for _, one := range []struct {
		repo  string
		issue int
	}{{"org", 42}, {"org/..", 42}, {"../org/repo", 42}, {"org/repo", -1}, {"", 42}} {
		if deleted, err := d.Delete(t.Context(), one.repo, one.issue); err == nil {
			t.Errorf("%q, %d: deleted %q", one.repo, one.issue, deleted)
		}
	}
}

// deleteCancelled deletes nothing after the end of its context.
func deleteCancelled(t *testing.T, d Deletable) {
	if err := d.Save(t.Context(), Sample("org/repo", 42)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(canceled(t), "org/repo", 42); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Load(t.Context(), "org/repo", 42); err != nil {
		t.Errorf("the record: %v", err)
	}
}
