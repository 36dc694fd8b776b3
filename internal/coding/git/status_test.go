package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []Change
		err  string
	}{
		{"", nil, ""},
		{"?? a\x00", []Change{{"a", "", "??"}}, ""},
		{"R  new\x00old\x00 M b\x00", []Change{{"new", "old", "R "}, {"b", "", " M"}}, ""},
		{" R new\x00old\x00", []Change{{"new", "old", " R"}}, ""},
		{"C  new\x00old\x00", []Change{{"new", "old", "C "}}, ""},
		{"RM R  x\x00?? y\x00", []Change{{"R  x", "?? y", "RM"}}, ""},
		{"?? a", nil, `git status: cannot read the entry "?? a"`},
		{"?? \x00", nil, `git status: cannot read the entry "?? "`},
		{"\x00", nil, `git status: cannot read the entry ""`},
		{"??xa\x00", nil, `git status: cannot read the entry "??xa"`},
		{"R  new\x00", nil, `git status: the entry "R  new" lacks its earlier path`},
		{"R  new\x00\x00", nil, `git status: the entry "R  new" lacks its earlier path`},
		{"R  new\x00old", nil, `git status: the entry "R  new" lacks its earlier path`},
	}
	for _, tt := range tests {
		got, err := parseStatus([]byte(tt.in))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || text != tt.err {
			t.Errorf("%q: got error %q, want %q; (-want +got):\n%s", tt.in, text, tt.err, diff)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	for _, s := range []string{"", "?? a\x00", "R  new\x00old\x00 M b\x00", "R  new\x00", "x", "C  a\x00b\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseStatus(data)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, c := range list {
			b.WriteString(c.Code + " " + c.Path + "\x00")
			if c.From != "" {
				b.WriteString(c.From + "\x00")
			}
		}
		if b.String() != string(data) {
			t.Fatalf("%q: got %+v", data, list)
		}
	})
}
