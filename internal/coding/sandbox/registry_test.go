package sandbox

import (
	"os"
	"testing"
)

// TestOwner copies a directory of locks with its ID file. The copy must have another owner.
func TestOwner(t *testing.T) {
	t.Parallel()
	id := func(dir string) string {
		t.Helper()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		id, err := owner(root)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	original, copied := t.TempDir(), t.TempDir()
	first := id(original)
	if again := id(original); again != first {
		t.Errorf("got %s, then %s", first, again)
	}
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	if other := id(copied); other == first {
		t.Errorf("the copy has the same id %s", other)
	}
}
