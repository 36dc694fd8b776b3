package sqlite

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/queue"
)

// TestOlder opens and copies the file of an earlier version while that version uses it: no file
// changes, and the copy has the schema of the earlier version.
func TestOlder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/earlier_memory.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "queue.db")
			if err := create(path); err != nil {
				t.Fatal(err)
			}
			earlier, err := open(registered(), uri(filepath.ToSlash(path)), "journal_mode = "+mode)
			if err != nil {
				t.Fatal(err)
			}
			defer earlier.close()
			if err := earlier.once(string(text)); err != nil {
				t.Fatal(err)
			}
			content := func() map[string]string {
				files := filesOf(t, dir)
				delete(files, "queue.db-shm") // contains the locks
				return files
			}
			before := content()
			if _, err := Open(t.Context(), path, Options{NoMigration: true}); !errors.Is(err, queue.ErrOlder) {
				t.Errorf("Open: got %v, want ErrOlder", err)
			}
			copied := filepath.Join(t.TempDir(), "queue.db")
			if err := Backup(t.Context(), path, copied); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(content(), before) {
				t.Error("the files were changed")
			}
			if _, err := Open(t.Context(), copied, Options{NoMigration: true}); !errors.Is(err, queue.ErrOlder) {
				t.Errorf("Open the copy: got %v, want ErrOlder", err)
			}
			openAt(t, copied) // upgrades it
			s, err := Open(t.Context(), copied, Options{NoMigration: true})
			if err != nil {
				t.Fatalf("Open the upgraded copy: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoMigrationMissing opens and copies a file that does not exist: no file appears.
func TestNoMigrationMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dir", "queue.db")
	if _, err := Open(t.Context(), path, Options{NoMigration: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: got %v, want ErrNotExist", err)
	}
	if err := Backup(t.Context(), path, path+".copy"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Backup: got %v, want ErrNotExist", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: got %v, want ErrNotExist", err)
	}
}
