package postgres_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
)

// TestAside quarantines a record when the quarantine is full, and purges the old ones.
func TestAside(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	s.Run(t, "INSERT INTO memory_aside (path, at, data) SELECT 'a', n, '' FROM generate_series(1, 1000) n")
	s.Run(t, "INSERT INTO memory_record (repo, issue, revision, data) VALUES ('o/r', 1, 1, 'broken')")
	if err := s.Memory().Save(t.Context(), memory.Record{Repo: "o/r", Issue: 1}); err != nil {
		t.Fatal(err)
	}
	count := func() int64 { return s.Run(t, "SELECT 1 FROM memory_aside") }
	if n := count(); n != 1000 {
		t.Errorf("%d are kept, want 1000", n)
	}
	if _, err := s.Queue().Purge(t.Context(), time.UnixMilli(501), 10); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 501 {
		t.Errorf("after the purge: %d, want 501", n)
	}
}
