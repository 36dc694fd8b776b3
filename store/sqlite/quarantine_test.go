package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestAside quarantines more records than are kept, and purges the old ones.
func TestAside(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	count := func() (n int, newest string) {
		err := s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
			return tx.Query("SELECT count(*), max(path) FROM memory_aside", func(r sqlstore.Row) error { return r.Scan(&n, &newest) })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, newest
	}
	err := s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
		for i := range 1000 {
			if _, err := tx.Exec("INSERT INTO memory_aside (path, at, data) VALUES ($1, $2, $3)", fmt.Sprint("a", i), int64(i), []byte("x")); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT INTO memory_record (repo, issue, revision, data) VALUES ($1, 1, 1, $2)", "z/z", []byte("broken"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Memory().Save(t.Context(), memory.Record{Repo: "z/z", Issue: 1}); err != nil {
		t.Fatal(err)
	}
	if n, newest := count(); n != 1000 || !strings.Contains(newest, "z/z") {
		t.Errorf("got %d, the newest %s", n, newest)
	}
	if _, err := s.Queue().Purge(t.Context(), time.UnixMilli(500), 10); err != nil {
		t.Fatal(err)
	}
	if n, newest := count(); n != 501 || !strings.Contains(newest, "z/z") {
		t.Errorf("after the purge: got %d, the newest %s", n, newest)
	}
	if deleted, err := s.DeleteRecord(t.Context(), "z/z", 1); err != nil || len(deleted) != 2 {
		t.Errorf("deleted %q, error %v", deleted, err)
	}
	if n, newest := count(); n != 500 || strings.Contains(newest, "z/z") {
		t.Errorf("after the deletion: got %d, the newest %s", n, newest)
	}
}
