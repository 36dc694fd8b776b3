package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpenFilesStay checks that no file of an open database can be removed, renamed or replaced. The
// method remember relies on that on Windows.
func TestOpenFilesStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "q.db")
	s := openAt(t, path)
	if _, err := s.Queue().Enqueue(t.Context(), filler("1")); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if os.Remove(name) == nil || os.Rename(name, name+".old") == nil || os.Rename(other, name) == nil {
			t.Errorf("%s was removed, renamed or replaced", name)
		}
	}
	if _, err := s.Queue().Enqueue(t.Context(), filler("2")); err != nil {
		t.Error(err)
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), "."} {
		if err := local(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{`\\server\share`, `\\server\share\folder`, `\\?\UNC\server\share\folder`, `\\.\unc\server\share`} {
		if err := local(dir); err == nil {
			t.Errorf("%s: got no error", dir)
		}
	}
}
