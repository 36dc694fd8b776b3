package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpenWritesNothing opens a file that is in use a second time, as a command that lists the
// queue does. It must work on a full disk, so it may not write.
func TestOpenWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	openAt(t, path)
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	openAt(t, path)
	if after := size(); after != before {
		t.Errorf("the journal has %d bytes, and had %d before", after, before)
	}
}
