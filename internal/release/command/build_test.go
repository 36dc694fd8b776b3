package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmpty removes what an earlier build made, and refuses a folder with anything else.
func TestEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := filepath.Join(dir, "release")
	if err := os.MkdirAll(filepath.Join(made, "programs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := empty(made); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(made); !os.IsNotExist(err) {
		t.Errorf("got %v, want no folder", err)
	}
	if err := empty(made); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("got the error %v, want one that names notes.txt", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}
