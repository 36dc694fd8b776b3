package queue

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli/process"
)

// TestShowEarlier prints the tasks of a database that the version before the current form of
// reports wrote. Its own output is the golden file, without the "{}" of actions that have no
// parameters.
func TestShowEarlier(t *testing.T) {
	t.Parallel()
	packed, err := os.Open("testdata/earlier.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "queue.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for issue := 1; issue <= 6; issue++ {
		o := showOptions{sharedOptions: &sharedOptions{Env: process.Env{Stdout: &got, Getenv: func(string) string { return "" }}.Complete(), Queue: path}, Task: fmt.Sprintf("00000000-0000-4000-8000-%012d", issue)}
		if err := runShow(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/earlier.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
