package jsregexp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/importer/jsregexp"
)

// TestTranslate checks the syntax of the result. A test of package importer checks that it matches
// the same texts as in Node.js.
func TestTranslate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src, flags string
		want       string
		problems   []jsregexp.Problem
	}{
		{"a.b", "", `a[^\r\n]b`, nil},
		{"a.b", "is", "(?is)a.b", nil},
		{"^x$", "m", `(?m)^x(?:\r?$)`, nil},
		{"(?<year>a)", "", "(?:a)", nil},
		{"x", "y", `\A(?:x)`, nil},
		{"a{,2}`", "", `a\{,2\}\x{60}`, nil},
		{`[^]|[]`, "", `[\x00-\x{10FFFF}]|[^\x00-\x{10FFFF}]`, nil},
		{`[\b\d-x[]`, "", `[\x08\d\-x\[]`, nil},
		{`\u{1F600}\x41\cA`, "u", "\U0001F600A\\x{1}", nil},
		{`\p{Script=Greek}`, "u", `\p{Greek}`, nil},
		{"ab(?=c)", "", "", []jsregexp.Problem{{At: 2, Msg: "look-ahead (?= has no counterpart in RE2"}}},
		{`(a)\1`, "", "", []jsregexp.Problem{{At: 3, Msg: `the back-reference \1 has no counterpart in RE2`}}},
		{"[b-a]", "", "", []jsregexp.Problem{{At: 1, Msg: "the range in a class is reversed", Fails: true}}},
		{"[a--b]", "v", "", []jsregexp.Problem{{Msg: "the flag v (sets in classes) has no counterpart"}, {At: 1, Msg: "the range in a class is reversed"}}},
		{"x[a", "", "", []jsregexp.Problem{{At: 1, Msg: "the class is not closed", Fails: true}}},
		{`\ud800`, "", "", []jsregexp.Problem{{At: 0, Msg: "a lone surrogate (half of a character) has no counterpart in RE2"}}},
		{"^a+?(b)*?|c{2}?$", "", `^a+?(b)*?|c{2}?$`, nil},
		{"^a/**", "", "", []jsregexp.Problem{{At: 4, Msg: "there is nothing that * can repeat", Fails: true}}},
		{"^*", "", "", []jsregexp.Problem{{At: 1, Msg: "there is nothing that * can repeat", Fails: true}}},
		{`\b+|(?x)`, "", "", []jsregexp.Problem{
			{At: 2, Msg: "there is nothing that + can repeat", Fails: true},
			{At: 4, Msg: "there is no such group (flags follow the last slash)", Fails: true},
		}},
		{"{2}a)", "", "", []jsregexp.Problem{
			{At: 0, Msg: "there is nothing that {2} can repeat", Fails: true}, {At: 4, Msg: "no group is open", Fails: true},
		}},
		{"a{2}{3}", "", "", []jsregexp.Problem{{At: 4, Msg: "there is nothing that {3} can repeat", Fails: true}}},
		{"(a", "", "", []jsregexp.Problem{{At: 0, Msg: "a group is not closed", Fails: true}}},
		{`\/\.[\-\]]{2}\x41\cA`, "u", `/\.[\-\]]{2}A\x{1}`, nil},
		{`\-\_{2,x]`, "u", "", []jsregexp.Problem{
			{At: 0, Msg: `the flag u forbids the escape \-`, Fails: true}, {At: 2, Msg: `the flag u forbids the escape \_`, Fails: true},
			{At: 4, Msg: `the flag u forbids { alone; write \{`, Fails: true}, {At: 8, Msg: `the flag u forbids ] alone; write \]`, Fails: true},
		}},
		{`[\a]\u12\c1`, "u", "", []jsregexp.Problem{
			{At: 1, Msg: `the flag u forbids the escape \a`, Fails: true}, {At: 4, Msg: `the digits of the escape \u are missing, which the flag u requires`, Fails: true},
			{At: 8, Msg: `the flag u forbids the escape \c`, Fails: true},
		}},
		{`\-\_[\a]\u12\c1`, "", `-_[a]u12\\c1`, nil},
		{"x", "q", "", []jsregexp.Problem{{At: 0, Msg: `'q' is not a flag of a regular expression`, Fails: true}}},
	}
	for _, tt := range tests {
		got, problems := jsregexp.Translate(tt.src, tt.flags)
		if diff := cmp.Diff(tt.problems, problems); diff != "" {
			t.Errorf("/%s/%s: problems differ (-want +got):\n%s", tt.src, tt.flags, diff)
		}
		if tt.problems == nil && got != tt.want {
			t.Errorf("/%s/%s: got %s, want %s", tt.src, tt.flags, got, tt.want)
		}
	}
}
