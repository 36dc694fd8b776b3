package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/git"
)

func TestParseRaw(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []git.Raw
		err  string
	}{
		{"", nil, ""},
		{":100644 100755 a b M\x00x\ny\x00", []git.Raw{{"100644", "100755", "a", "b", "M", "x\ny", ""}}, ""},
		{
			":100644 100644 a a R100\x00from\x00to\x00\n:000000 120000 0 b A\x00:100644 x\x00",
			[]git.Raw{{"100644", "100644", "a", "a", "R100", "to", "from"}, {"000000", "120000", "0", "b", "A", ":100644 x", ""}}, "",
		},
		{"x", nil, `read the changed paths: "x" is not an entry`},
		{":100644 100644 a a M", nil, `read the changed paths: ":100644 100644 a a M" is not an entry`},
		{":100644 a a M\x00x\x00", nil, `read the changed paths: ":100644 a a M\x00x\x00" is not an entry`},
		{":100644 100644 a a M\x00\x00", nil, `read the changed paths: the entry "100644 100644 a a M" has no path`},
		{":100644 100644 a a C9\x00x\x00", nil, `read the changed paths: the entry "100644 100644 a a C9" has no path`},
	}
	for _, tt := range tests {
		got, err := git.ParseRaw([]byte(tt.in))
		text := ""
		if err != nil {
			text, got = err.Error(), nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || text != tt.err {
			t.Errorf("%q: got error %q, want %q; (-want +got):\n%s", tt.in, text, tt.err, diff)
		}
	}
}

func FuzzParseRaw(f *testing.F) {
	for _, s := range []string{"", ":100644 100755 a b M\x00x\x00", ":100644 100644 a a R100\x00from\x00to\x00\n:0 1 2 3 A\x00x\x00", ":\x00", ":1 2 3 4 R\x00\x00x\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := git.ParseRaw(data)
		if err != nil {
			return
		}
		for _, r := range list {
			if r.Path == "" || r.Status == "" || r.Mode == "" || r.OldMode == "" {
				t.Fatalf("%q: got %+v", data, list)
			}
		}
	})
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, target string
		want         bool
	}{
		{"a", "b", false},
		{"a", "./b/c", false},
		{"a", "..", true},
		{"d/a", "..", false},
		{"d/a", "../b", false},
		{"d/a", "../../b", true},
		{"d/a", "x/../b", true}, // x may be a link
		{"a", "/etc", true},
		{"a", "", true},
		{"a", `C:\x`, true},
		{"a", "c:x", true},
		{"d/a", "../.GIT/config", true},
		{"a", ".gitignore", false},
	}
	for _, tt := range tests {
		if got := git.Leaves(tt.name, tt.target); got != tt.want {
			t.Errorf("%s -> %s: got %v", tt.name, tt.target, got)
		}
	}
}
