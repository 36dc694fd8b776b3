package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	memorytest.RunDelete(t, func(t *testing.T) memorytest.Deletable {
		s := open(t, filepath.Join(t.TempDir(), "memory"))
		return memorytest.Deletable{Store: s, Journal: s, Delete: s.DeleteRecord}
	})
}

// TestDeleteFiles deletes a broken record, a newer one, kept copies and leftovers, and follows no link out of the folder.
// Files that the store does not make stay.
func TestDeleteFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "hello")
	mkdir(t, elsewhere)
	write(t, filepath.Join(elsewhere, "42.json"), "{}")
	folder := filepath.Join(dir, "org", "repo")
	mkdir(t, filepath.Join(folder, "42.journal"))
	for _, name := range []string{"42.json", "42.json.tmp", "42.broken-0123456789ab.json", "42.journal/a.jsonl", "42.journal/a.jsonl.broken-1", "42.txt", "142.json", "42.broken.txt"} {
		write(t, filepath.Join(folder, filepath.FromSlash(name)), `{"schema": 99}`)
	}
	s, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := s.DeleteRecord(t.Context(), "Org/Repo", 42)
	want := []string{"org/repo/42.json", "org/repo/42.broken-0123456789ab.json", "org/repo/42.journal", "org/repo/42.json.tmp"}
	if diff := cmp.Diff(want, deleted); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"142.json", "42.broken.txt", "42.txt"}, tree(t, folder)); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	link(t, elsewhere, filepath.Join(dir, "org", "linked"))
	if deleted, err := s.DeleteRecord(t.Context(), "org/linked", 42); err == nil {
		t.Errorf("behind a link: deleted %q", deleted)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "42.json")); err != nil {
		t.Error(err)
	}
}
