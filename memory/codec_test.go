package memory_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/memory"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestForm pins the stored form, because records of earlier versions must stay readable.
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
	if r.Schema != 1 || r.Tasks[0].Actions[0].Values[0] != "bug" || !r.Tasks[0].At.Equal(time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)) {
		t.Errorf("decoded: got %+v", r.Tasks[0])
	}
}

// TestProposalsForm pins the stored form of a record with proposals.
func TestProposalsForm(t *testing.T) {
	t.Parallel()
	want := string(read(t, "testdata/proposals.json"))
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
	p, ok := r.Proposal(9)
	if at, due := r.Due(); !ok || len(p.Actions()) != 2 || !due || !at.Equal(p.Expires) {
		t.Errorf("decoded: got %+v, due %v", p, at)
	}
}

// TestOutcomesForm pins the stored form of the outcomes of a repository, and of a task that shadow mode suppressed.
func TestOutcomesForm(t *testing.T) {
	t.Parallel()
	want := string(read(t, "testdata/outcomes.json"))
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
	if p := r.Outcomes.Pairs[0]; !r.Tasks[0].Suppressed() || p.Kept != 19 || p.Shadow.Kept != 4 || p.Shadow.Last != "kkukk" {
		t.Errorf("decoded: got %+v", p)
	}
}

func TestDecodeTolerates(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"another case of the repository": `{"schema":1,"repo":"ORG/Repo","issue":42,"revision":1,"tasks":[]}`,
		"unknown fields":                 `{"later":{},"schema":1,"repo":"org/repo","issue":42,"revision":1,"tasks":[{"x":1}]}`,
		"no tasks":                       `{"schema":1,"repo":"org/repo","issue":42,"revision":1}`,
		"unknown result":                 `{"schema":1,"repo":"org/repo","issue":42,"revision":1,"tasks":[{"actions":[{"result":"trying"}]}]}`,
		"schema 2 without proposals":     `{"schema":2,"repo":"org/repo","issue":42,"revision":1}`,
		"only the last number":           `{"schema":2,"repo":"org/repo","issue":42,"revision":1,"last_proposal":7}`,
		"no action":                      ended(`"number":1,"id":"a","state":"rejected"`),
		"unknown state":                  ended(`"number":1,"id":"a","state":"vanished","carrier":"pigeon","confidence":"sure"`),
		"space behind":                   `{"schema":1,"repo":"org/repo","issue":42,"revision":1} ` + "\n",
	}
	for name, in := range tests {
		if _, err := memory.Decode([]byte(in), "org/repo", 42); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ended returns a record with a proposal that has these fields.
func ended(fields string) string {
	return `{"schema":2,"repo":"org/repo","issue":42,"revision":1,"proposals":[{` + fields + `}],"last_proposal":1}`
}

// TestBroken reads testdata/broken. Each archive has the files "record" and "error", the error of
// decoding the record for org/repo#42.
func TestBroken(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/broken", func(t *testing.T, in map[string]string) map[string]string {
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

// archives runs a test for each txtar archive in a folder. It compares the files that the test
// returns with those of the archive.
func archives(t *testing.T, dir string, test func(t *testing.T, in map[string]string) map[string]string) {
	t.Helper()
	golden.Files(t, dir, *update, test)
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

// TestDecodeIdentity decodes names that differ after Key's lower-casing, but are equal under a
// broader case folding.
func TestDecodeIdentity(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stored, repo string
		issue        int
		ok           bool
	}{
		{"ORG/kinds", "org/Kinds", 42, true},
		{"org/\u212ainds", "org/kinds", 42, false},
		{"org/kind\u017f", "org/kinds", 42, false},
		{"org/\u212ainds", "org/\u212ainds", 42, false},
		{"org/kinds", "org/kinds", 43, false},
		{".org/kinds", ".org/kinds", 42, false},
	} {
		data := fmt.Sprintf(`{"schema":1,"repo":%q,"issue":42,"revision":1,"tasks":[]}`, tt.stored)
		_, err := memory.Decode([]byte(data), tt.repo, tt.issue)
		if tt.ok != (err == nil) || err != nil && !errors.Is(err, memory.ErrBroken) {
			t.Errorf("%s as %s#%d: got %v", tt.stored, tt.repo, tt.issue, err)
		}
	}
}

// TestDecodeHostile decodes small files that Encode never writes.
func TestDecodeHostile(t *testing.T) {
	t.Parallel()
	humans := make([]string, 10)
	for i := range humans {
		humans[i] = `{"at":"2026-04-10T08:30:00Z","type":"lock","values":["` + strings.Repeat(strings.Repeat("x", 500)+`","`, 15) + `"]}`
	}
	types := make([]string, 12_000)
	for i := range types {
		types[i] = fmt.Sprintf(`"%d":1`, i)
	}
	for name, in := range map[string]string{
		"tasks":          `"tasks":[` + strings.Repeat("{},", 43_000) + `{}]`,
		"types":          `"earlier":{"tasks":1,"done":{` + strings.Join(types, ",") + `}}`,
		"a type":         `"earlier":{"tasks":1,"done":{"` + strings.Repeat("x", 262_000) + `":1}}`,
		"changes":        `"humans":[` + strings.Join(humans, ",") + `]`,
		"wide types":     `"earlier":{"tasks":1,"done":{"` + strings.Repeat(`\u0001`, 43_000) + `":1}}`,
		"more when read": `"tasks":[{"rationale":"` + strings.Repeat("\\ud800", 4_096/3+1) + `"}]`,
	} {
		data := `{"schema":1,"repo":"org/repo","issue":42,"revision":1,` + in + `}`
		if len(data) > memory.MaxSize {
			t.Fatalf("%s: %d bytes", name, len(data))
		}
		if _, err := memory.Decode([]byte(data), "org/repo", 42); !errors.Is(err, memory.ErrBroken) {
			t.Errorf("%s: got %v, want ErrBroken", name, err)
		}
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
		{".lock/repo", 7, `want owner/name, got ".lock/repo"`},
		{"org/repo", -1, "want an issue number, got -1"},
	} {
		if _, err := memory.Key(tt.repo, tt.issue); err == nil || err.Error() != tt.want {
			t.Errorf("Key(%q, %d): got %v, want %s", tt.repo, tt.issue, err, tt.want)
		}
	}
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
