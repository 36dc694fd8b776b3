package forms

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules/internal/markdown"
)

func TestFormSections(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""},
		{"text\n## a\n", ""},
		{"### a\nx\n### b\ny\nz", "a:[x] b:[y z]"},
		{"text\n###  A  b ##\nx", "a b:[x]"},
		{"###\tA\t#\nx", "a:[x]"},
		{"### a#\nx", "a#:[x]"},
		{"###a\nx\n#### b\n##### ### c", ""},
		{"   ### a\nx\n    ### b", "a:[x     ### b]"},
		{"### a\n```\n### b\n```\n### c", "a:[``` ### b ```] c:[]"},
		{"### a\n> ### b\n- ### c", "a:[> ### b - ### c]"},
		{"###\nx", ":[x]"},
		{"### a\n# b\n## c\n#### d", "a:[# b ## c #### d]"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range sectionsOf(tt.in) {
			var lines []string
			for _, l := range s.lines {
				lines = append(lines, l.Text)
			}
			got = append(got, fmt.Sprintf("%s:%v", s.heading, lines))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestFormValues(t *testing.T) {
	t.Parallel()
	none := Value{Absent: true, List: []string{}}
	tests := []struct {
		typ, in string
		want    Value
	}{
		{Text, "", none},
		{Text, " \n\t\n", none},
		{Text, "_No response_", none},
		{Text, "```shell\n\n```", none},
		{Text, "```\n_No response_\n```", none},
		{Text, "a\n\nb ", Value{Text: "a\n\nb"}},
		{Text, "```shell\na\n  b\n```\n", Value{Text: "a\n  b"}},
		{Text, "```\na\n```\nand\n```\nb\n```", Value{Text: "```\na\n```\nand\n```\nb\n```"}},
		{Text, "```\na", Value{Text: "```\na"}},
		{Text, "_No response_ at all", Value{Text: "_No response_ at all"}},
		{Semver, "v1.2", Value{Text: "1.2.0"}},
		{Semver, "`1.2.3`", Value{Text: "1.2.3"}},
		{Semver, "```\n1.2.3\n```", Value{Text: "1.2.3"}},
		{Semver, "1.2.3\n1.2.4", none},
		{Semver, "the newest", none},
		{Number, "7", Value{Number: 7}},
		{Number, "-2.50", Value{Number: -2.5}},
		{List, "A, B", Value{List: []string{"A", "B"}}},
		{List, "- A\n* B, C\n\n+ D\n-E", Value{List: []string{"A", "B", "C", "D", "-E"}}},
		{List, " , ,\n-", Value{List: []string{"-"}}},
		{List, ",", none},
		{List, strings.Repeat("a,", 200), Value{List: slices.Repeat([]string{"a"}, 100)}},
		{List, strings.Repeat("é", 257) + ", b", Value{List: []string{"b"}}},
		{Checkboxes, "- [x] A\n- [ ] B\n- [X] C, d\n* [x]  E ", Value{List: []string{"A", "C, d", "E"}}},
		{Checkboxes, "- [ ] A", none},
		{Checkboxes, "text [x] A\n- [x]\n- [xx] B\n- [x]C", none},
		{Checkboxes, "```\n- [x] A\n```\n- [x] B", Value{List: []string{"B"}}},
		{Checkboxes, strings.Repeat("- [x] a\n", 200), Value{List: slices.Repeat([]string{"a"}, 100)}},
	}
	for _, tt := range tests {
		got := (&Field{Type: tt.typ}).value(markdown.Lines(tt.in))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Value{})); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.typ, tt.in, diff)
		}
	}
	for _, in := range []string{"", "x", "1e9", "NaN", "Inf", "0x10", "1,000", "1.", ".5", strings.Repeat("1", 16)} {
		if got := (&Field{Type: Number}).value(markdown.Lines(in)); !got.Absent || !math.IsNaN(got.Number) {
			t.Errorf("number %q: got %+v", in, got)
		}
	}
}

// worstBodies returns texts that are slow to parse as Markdown.
func worstBodies(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	var fences strings.Builder
	for n := 350; n > 3; n-- {
		fences.WriteString(strings.Repeat("`", n) + "\n")
	}
	return map[string]string{
		"headings": fill("### a\n"), "empty headings": fill("###\n"), "signs": fill("#"), "fences": fill("```\n"),
		"open fences": fill("```a\n"), "shrinking fences": fences.String() + fill("~~~\n"),
		"fences that end nothing": fences.String() + fill("```a\n"), "both kinds": fill("````\n~~~\n```a\n"),
		"boxes": fill("- [x] a\n"), "commas": fill("a,"), "lines": fill("\n"), "spaces": fill(" "), "quotes": fill(">"),
		"commands": fill("/foreman 1\n"), "ticks": fill("`"), "closing signs": "### " + fill("# "), "returns": fill("\r"),
	}
}

// BenchmarkForms parses the slowest texts, as large as an issue may be.
func BenchmarkForms(b *testing.B) {
	for name, body := range worstBodies(65_536) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				readForm("### a\n"+body, List)
			}
		})
	}
}

func readForm(body, typ string) Value {
	return NewReader(body).Value(&Field{key: "a", Type: typ})
}

// FuzzForms checks that no text makes the reader panic, and that the values are bounded.
func FuzzForms(f *testing.F) {
	for _, body := range worstBodies(100) {
		f.Add(body)
	}
	f.Add("### A\n\n- [x] b, c\n\n```sh\n### A\n```\n### A\r\n\r\nd")
	f.Fuzz(func(t *testing.T, body string) {
		lines := markdown.Lines(body)
		if n := len(lines); n > strings.Count(body, "\n")+1 {
			t.Errorf("%d lines", n)
		}
		for _, typ := range Types() {
			v := readForm(body, typ)
			if len(v.Text) > len(body)+len("1.0.0") || len(v.List) > MaxItems || typ == Number && v.Absent != math.IsNaN(v.Number) {
				t.Errorf("%s: got %+v", typ, v)
			}
			for _, item := range v.List {
				if item == "" || utf8.RuneCountInString(item) > maxItem || strings.Contains(item, "\n") {
					t.Errorf("%s: got the item %q", typ, item)
				}
			}
		}
	})
}
