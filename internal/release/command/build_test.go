package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrepare empties what an earlier build made, and refuses any other folder.
func TestPrepare(t *testing.T) {
	t.Parallel()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := filepath.Join(t.TempDir(), "bin", "release")
	for range 2 {
		if err := prepare(made); err != nil {
			t.Fatal(err)
		}
		list, err := os.ReadDir(made)
		if err != nil || len(list) != 1 || list[0].Name() != marker {
			t.Errorf("got %v and the error %v, want the marker alone", list, err)
		}
		write(filepath.Join(made, "programs", "foreman-linux-amd64"), "program")
	}
	if err := prepare(t.TempDir()); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"fitting names", map[string]string{"man/foreman.1": "mine", "images/cat.png": "mine", "checksums.txt": "mine"}, "it has no file " + marker},
		{"another marker", map[string]string{marker: "mine", "man/foreman.1": "mine"}, "it has no file " + marker},
		{"a foreign file", map[string]string{marker: markerText, "notes.txt": "mine"}, "has notes.txt, which no build made"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		for name, text := range tt.files {
			write(filepath.Join(dir, filepath.FromSlash(name)), text)
		}
		if err := prepare(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got the error %v, want %q in it", tt.name, err, tt.want)
		}
		for name, text := range tt.files {
			if left, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(left) != text {
				t.Errorf("%s: %s has %q, %v", tt.name, name, left, err)
			}
		}
	}
}
