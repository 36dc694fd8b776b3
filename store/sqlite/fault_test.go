package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestDiskFull fills a simulated disk, makes room again, and cuts the power. The same store
// continues when there is room, and no acknowledged write is lost.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		d := newDisk(seed)
		s, e, err := d.on(t)
		if err != nil {
			t.Fatal(err)
		}
		d.mu.Lock()
		d.full = d.size() + 20_000 + d.rand.IntN(200_000)
		d.mu.Unlock()
		var kept []string
		failed := 0
		for n := 0; failed < 5 && n < 5_000; n++ {
			id := fmt.Sprint(n)
			if _, err := s.Enqueue(t.Context(), filler(id)); err != nil {
				failed++
			} else {
				kept = append(kept, id)
			}
		}
		d.mu.Lock()
		d.full = 0
		d.mu.Unlock()
		if failed == 0 {
			t.Fatalf("seed %d: the disk was never full", seed)
		}
		if _, err := s.Enqueue(t.Context(), filler("after")); err != nil {
			t.Errorf("seed %d: with room again: %v", seed, err)
		}
		next := d.cut()
		_ = e.close()
		if s, e, err = next.on(t); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, id := range append(kept, "after") {
			if _, err := s.Inspect(t.Context(), id); err != nil {
				t.Errorf("seed %d: task %s: %v", seed, id, err)
			}
		}
		checkIntegrity(t, e)
		_ = e.close()
	}
}

// filler returns a task of about 2 KiB.
func filler(id string) queue.Task {
	return queue.Task{ID: id, Agent: "http://a", Repo: "o/r", Issue: 1, Message: []byte(`{"text":"` + strings.Repeat("x", 2_000) + `"}`)}
}

func openAt(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestUnavailable fills a real file up to its largest allowed size.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	limit := func(pages int) {
		err := s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
			_, err := tx.Exec(fmt.Sprint("PRAGMA max_page_count = ", pages))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(100)
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		_, err = s.Queue().Enqueue(t.Context(), filler(fmt.Sprint(n)))
	}
	if !errors.Is(err, queue.ErrUnavailable) || errors.Is(err, queue.ErrEmpty) {
		t.Fatalf("Enqueue on a full disk: got %v, want ErrUnavailable", err)
	}
	// A write that needs no new page works; the next task may still fail.
	if err := s.SaveCursor(t.Context(), "o/r", []byte("1")); err != nil {
		t.Errorf("SaveCursor: %v", err)
	}
	if err := s.Healthy(); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("Healthy: got %v, want ErrUnavailable", err)
	}
	if list, err := queue.List(t.Context(), s.Queue(), queue.Filter{Limit: 1000}); err != nil || len(list) != n-1 {
		t.Errorf("got %d tasks, %v, want %d", len(list), err, n-1)
	}
	limit(1 << 30)
	if _, err := s.Queue().Enqueue(t.Context(), filler("after")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	for range 2 {
		if err := s.Healthy(); err != nil {
			t.Errorf("Healthy: %v", err)
		}
	}
	if data, err := s.Cursor(t.Context(), "?probe"); data != nil || err != nil {
		t.Errorf("the probe left %d bytes, %v", len(data), err)
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	if err := openAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE foreman_schema SET version = 99"); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	_, err = Open(t.Context(), path, Options{})
	if !errors.Is(err, queue.ErrNewer) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "this program reads up to ") {
		t.Errorf("got %v, want ErrNewer with both versions", err)
	}
}

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database at all ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); err == nil {
		t.Error("opened a file that is no database")
	}
	if err := checkVersion("3.51.2"); err == nil {
		t.Error("3.51.2: got no error")
	}
	for _, good := range []string{"3.51.3", "3.54.1", "4.0.0"} {
		if err := checkVersion(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	name, modes := "new?", true
	if runtime.GOOS == "windows" { // names have no question mark there, and files no permissions
		name, modes = "new", false
	}
	dir := filepath.Join(t.TempDir(), name, "dir#1")
	path := filepath.Join(dir, "a file%20.db")
	s := openAt(t, path)
	if _, err := s.Queue().Enqueue(t.Context(), filler("1")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600} {
		if info, err := os.Stat(name); err != nil || modes && info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want %o", name, info, err, want)
		}
	}
	backup := filepath.Join(dir, "backup.db")
	if err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), path, backup); err == nil {
		t.Error("Backup over a file: got no error")
	}
	if _, err := openAt(t, backup).Queue().Inspect(t.Context(), "1"); err != nil {
		t.Errorf("in the backup: %v", err)
	}
}

// TestPragmas reads the settings of the connection that writes.
func TestPragmas(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "foreman.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "auto_vacuum": "2", "journal_size_limit": "67108864"} {
		var got []byte
		err := s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
			return tx.Query("SELECT CAST(p."+pragma+" AS TEXT) FROM pragma_"+pragma+" p", func(r sqlstore.Row) error { return r.Scan(&got) })
		})
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", pragma, got, err, want)
		}
	}
}
