package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestPurgeShrinks checks that a purge makes the file smaller.
func TestPurgeShrinks(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	const many = 300
	for n := range many {
		id := fmt.Sprint(n)
		if _, err := s.Queue().Enqueue(t.Context(), filler(id)); err != nil {
			t.Fatal(err)
		}
		if err := s.Queue().Cancel(t.Context(), queue.Seen{ID: id}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	pages := func() (n int) {
		err := s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
			return tx.Query("PRAGMA page_count", func(r sqlstore.Row) error { return r.Scan(&n) })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := pages()
	if n, err := s.Queue().Purge(t.Context(), time.Now().Add(time.Hour), many); err != nil || n != many {
		t.Fatalf("Purge: got %d, %v", n, err)
	}
	if after := pages(); after > before-50 {
		t.Errorf("the file has %d pages, and had %d before", after, before)
	}
	left := 0
	for _, table := range []string{"task", "task_body", "task_log"} {
		err := s.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
			return tx.Query("SELECT count(*) FROM "+table, func(r sqlstore.Row) error { return r.Scan(&left) })
		})
		if err != nil || left != 0 {
			t.Errorf("%s: %d rows are left, %v", table, left, err)
		}
	}
}
