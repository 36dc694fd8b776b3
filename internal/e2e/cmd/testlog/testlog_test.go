package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden reads logs of parallel tests, some of which are skipped or fail. Each reason is
// assigned to its test.
func TestGolden(t *testing.T) {
	t.Parallel()
	update := os.Getenv("UPDATE") != ""
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		for mode, verbose := range map[string]bool{"short": false, "verbose": true} {
			events, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			l := newTestLog(&out, verbose)
			if err := l.read(bytes.NewReader(events)); err != nil {
				t.Error(err)
			}
			got := out.String() + "\nskipped:\n" + strings.Join(l.skips, "\n") + "\n"
			if wantFail := strings.Contains(file, "mixed"); l.failed != wantFail {
				t.Errorf("%s: got failed %v, want %v", file, l.failed, wantFail)
			}
			golden := strings.TrimSuffix(file, ".json") + "." + mode
			if update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		}
	}
}
