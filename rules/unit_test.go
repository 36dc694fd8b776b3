package rules

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, s string
		want    bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"area/*", "AREA/net/tcp", true},
		{"area/*", "area", false},
		{"area/*", "area/", true},
		{"*bug", "kind/Bug", true},
		{"*bug", "bugs", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "abc", true},
		{"a*b*c", "acb", false},
		{"a*a", "a", false},
		{"ab*ba", "aba", false},
		{"a**b", "ab", true},
		{"*a*", "bab", true},
		{"kind", "kind/bug", false},
		{"a?", "ab", false},
		{"[a]", "a", false},
		{"É*", "éa", true},
	}
	for _, tt := range tests {
		if got := globMatch(tt.glob, tt.s); got != tt.want {
			t.Errorf("globMatch(%q, %q): got %v, want %v", tt.glob, tt.s, got, tt.want)
		}
	}
}

// slowGlob is the definition of globMatch.
func slowGlob(glob, s string) bool {
	switch {
	case glob == "":
		return s == ""
	case glob[0] == '*':
		return slowGlob(glob[1:], s) || s != "" && slowGlob(glob, s[1:])
	}
	return s != "" && s[0] == glob[0] && slowGlob(glob[1:], s[1:])
}

func TestGlobMatchAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	letters := func(n uint32, alphabet string) string {
		var b strings.Builder
		for ; n > 0 && b.Len() < 8; n /= uint32(len(alphabet)) {
			b.WriteByte(alphabet[n%uint32(len(alphabet))])
		}
		return b.String()
	}
	same := func(a, b uint32) bool {
		glob, s := letters(a, "ab*"), letters(b, "ab")
		return globMatch(glob, s) == slowGlob(glob, s)
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []span
		err  bool
	}{
		{"", nil, false},
		{"a", []span{{"a", 0, false}}, false},
		{"{{x}}", []span{{"x", 2, true}}, false},
		{"a{{ x }}b{{y}}", []span{{"a", 0, false}, {" x ", 3, true}, {"b", 8, false}, {"y", 11, true}}, false},
		{`{{ "}}" }}`, []span{{` "}}" `, 2, true}}, false},
		{`{{ "\"}}" }}c`, []span{{` "\"}}" `, 2, true}, {"c", 12, false}}, false},
		{"{{ `\\` }}", []span{{" `\\` ", 2, true}}, false},
		{"{{ '}}' }}", []span{{" '}}' ", 2, true}}, false},
		{"a } b }} c { d", []span{{"a } b }} c { d", 0, false}}, false},
		{"{{", nil, true},
		{"a {{ b }", nil, true},
		{`{{ "}}`, nil, true},
		{strings.Repeat("x{{1}}", 51), nil, true},
	}
	for _, tt := range tests {
		got, _, err := split(tt.in)
		if (err != nil) != tt.err {
			t.Errorf("split(%q): got error %v, want one: %v", tt.in, err, tt.err)
			continue
		}
		if !tt.err && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("split(%q): got %v, want %v", tt.in, got, tt.want)
		}
	}
	if _, _, err := split(strings.Repeat("x{{1}}", 50)); err != nil {
		t.Errorf("50 parts: %v", err)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ééé", 3, "ééé"},
		{"éééé", 3, "éé…"},
	}
	for _, tt := range tests {
		if got := cut(tt.s, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"abc", "abc"},
		{"a\nb\r\tc\x00\x1b[0m", "abc[0m"},
		{"a\u202eb\u200bc\u2028d\xff", "abc\u2028d"},
		{"0123456789x", "0123456789"},
		{"éééééééééééé", "éééééééééé"},
	}
	for _, tt := range tests {
		if got := plain(tt.in, 10); got != tt.want {
			t.Errorf("plain(%q): got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	const s = "äb\ncdé\n"
	for offset, want := range map[int][2]int{0: {1, 1}, 2: {1, 2}, 3: {1, 3}, 4: {2, 1}, 8: {2, 4}, 9: {3, 1}} {
		line, col := position(s, offset)
		if got := [2]int{line, col}; got != want {
			t.Errorf("position %d: got %v, want %v", offset, got, want)
		}
	}
}

func TestPatternsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	c := newExprCompiler()
	for range 3 {
		if _, err := c.compile("issue.title matches `a` or issue.body matches \"a\"", wantBool); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.patterns) != 1 {
		t.Errorf("got %d patterns, want 1", len(c.patterns))
	}
}

// Every field of what rules can reach is exported, has a name or is hidden, and is of a
// plain kind.
func TestFactsAreTagged(t *testing.T) {
	t.Parallel()
	var check func(typ reflect.Type)
	check = func(typ reflect.Type) {
		if typ.NumMethod() > 0 || reflect.PointerTo(typ).NumMethod() > 0 {
			t.Errorf("%s has methods", typ)
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Tag.Get("expr") == "" {
				t.Errorf("%s.%s has no name for rules", typ, f.Name)
			}
			if f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Func {
				t.Errorf("%s.%s is a %s", typ, f.Name, f.Type.Kind())
			}
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
				check(f.Type)
			}
		}
	}
	for _, typ := range nouns() {
		check(typ)
	}
}

// A condition cannot name what is hidden from it, by no name.
func TestHiddenFieldsHaveNoName(t *testing.T) {
	t.Parallel()
	hidden := 0
	var check func(path string, typ reflect.Type)
	check = func(path string, typ reflect.Type) {
		for f := range typ.Fields() {
			tag := f.Tag.Get("expr")
			switch {
			case f.Anonymous:
				check(path, f.Type)
				tag = "-"
			case tag != "-" && f.Type.Kind() == reflect.Struct:
				check(path+"."+tag, f.Type)
			}
			if tag != "-" {
				continue
			}
			hidden++
			for _, name := range []string{f.Name, strings.ToLower(f.Name), "-"} {
				src := fmt.Sprintf("%s[%q] == 1", path, name)
				if _, err := newExprCompiler().check(src, wantBool); err == nil || !strings.Contains(err.Error(), "has no field") {
					t.Errorf("%s: got %v, want an unknown field", src, err)
				}
			}
		}
	}
	for f := range reflect.TypeFor[env]().Fields() {
		if f.Type.Kind() == reflect.Struct {
			check(f.Tag.Get("expr"), f.Type)
		}
	}
	if hidden < 8 {
		t.Errorf("%d hidden fields, want at least 8", hidden)
	}
}

// Every action of the protocol can be written in a rule, and escalate besides.
func TestSpecsHoldEveryAction(t *testing.T) {
	t.Parallel()
	var want []string
	for _, s := range protocol.ActionSpecs() {
		want = append(want, s.Name)
	}
	want = append(want, "escalate", "retriage")
	if diff := cmp.Diff(want, (&ruleCompiler{specs: specs()}).names()); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
