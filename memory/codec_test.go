package memory_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestForm pins the stored form: records that were written must stay readable.
func TestForm(t *testing.T) {
	t.Parallel()
	want := string(read(t, "testdata/record.json"))
	r, err := memory.Decode([]byte(want), "org/repo", 42)
	if err != nil {
		t.Fatal(err)
	}
	got, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stored form (-want +got):\n%s", diff)
	}
	if r.Tasks[0].Actions[0].Values[0] != "bug" || !r.Tasks[0].At.Equal(time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)) {
		t.Errorf("decoded: got %+v", r.Tasks[0])
	}
}

func TestDecodeTolerates(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"another case of the repository": `{"schema":1,"repo":"ORG/Repo","issue":42,"revision":1,"tasks":[]}`,
		"unknown fields":                 `{"later":{},"schema":1,"repo":"org/repo","issue":42,"revision":1,"tasks":[{"x":1}]}`,
		"no tasks":                       `{"schema":1,"repo":"org/repo","issue":42,"revision":1}`,
		"unknown result":                 `{"schema":1,"repo":"org/repo","issue":42,"revision":1,"tasks":[{"actions":[{"result":"trying"}]}]}`,
		"space behind":                   `{"schema":1,"repo":"org/repo","issue":42,"revision":1} ` + "\n",
	}
	for name, in := range tests {
		if _, err := memory.Decode([]byte(in), "org/repo", 42); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBroken reads testdata/broken: each archive has a file "record" and the file
// "error" that it gives as the record of org/repo#42.
func TestBroken(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/broken/*.txtar", func(t *testing.T, in map[string]string) map[string]string {
		_, err := memory.Decode([]byte(strings.TrimSuffix(in["record"], "\n")), "org/repo", 42)
		if err == nil {
			t.Fatal("got no error")
		}
		if broken, newer := errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer); broken == newer {
			t.Errorf("got %v, want either ErrBroken or ErrNewer", err)
		}
		return map[string]string{"error": err.Error() + "\n"}
	})
}

// archives runs a test for each txtar archive and compares, or rewrites, the files
// that it returns.
func archives(t *testing.T, pattern string, test func(t *testing.T, in map[string]string) map[string]string) {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range list {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]string{}
			for _, f := range ar.Files {
				in[f.Name] = string(f.Data)
			}
			out := test(t, in)
			for i, f := range ar.Files {
				got, ok := out[f.Name]
				if !ok {
					continue
				}
				if diff := cmp.Diff(in[f.Name], got); diff != "" && !*update {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
				ar.Files[i].Data = []byte(got)
				delete(out, f.Name)
			}
			for name := range out {
				t.Errorf("the archive has no file %s", name)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDecodeBounds(t *testing.T) {
	t.Parallel()
	base := `{"schema":1,"repo":"org/repo","issue":42,"revision":1,"tasks":[]}`
	pad := func(n int) []byte { return []byte(base + strings.Repeat(" ", n-len(base))) }
	if _, err := memory.Decode(pad(memory.MaxSize), "org/repo", 42); err != nil {
		t.Errorf("at MaxSize: %v", err)
	}
	if _, err := memory.Decode(pad(memory.MaxSize+1), "org/repo", 42); !errors.Is(err, memory.ErrBroken) {
		t.Errorf("beyond MaxSize: got %v, want ErrBroken", err)
	}
	if _, err := memory.Decode([]byte(strings.Replace(base, "org/", "\xff/", 1)), "\xff/repo", 42); !errors.Is(err, memory.ErrBroken) {
		t.Errorf("not UTF-8: got %v, want ErrBroken", err)
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	if got, err := memory.Key("Org/Re_po.x-1", 7); got != "org/re_po.x-1/7" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, tt := range []struct {
		repo  string
		issue int
		want  string
	}{
		{"org/..", 7, `want owner/name, got "org/.."`},
		{"org/repo", 0, "want an issue number from 1, got 0"},
	} {
		if _, err := memory.Key(tt.repo, tt.issue); err == nil || err.Error() != tt.want {
			t.Errorf("Key(%q, %d): got %v, want %s", tt.repo, tt.issue, err, tt.want)
		}
	}
}
