package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
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
		for _, s := range formSections(tt.in) {
			var lines []string
			for _, l := range s.lines {
				lines = append(lines, l.text)
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
	none := formValue{absent: true, list: []string{}}
	tests := []struct {
		typ, in string
		want    formValue
	}{
		{formText, "", none},
		{formText, " \n\t\n", none},
		{formText, "_No response_", none},
		{formText, "```shell\n\n```", none},
		{formText, "```\n_No response_\n```", none},
		{formText, "a\n\nb ", formValue{text: "a\n\nb"}},
		{formText, "```shell\na\n  b\n```\n", formValue{text: "a\n  b"}},
		{formText, "```\na\n```\nand\n```\nb\n```", formValue{text: "```\na\n```\nand\n```\nb\n```"}},
		{formText, "```\na", formValue{text: "```\na"}},
		{formText, "_No response_ at all", formValue{text: "_No response_ at all"}},
		{formSemver, "v1.2", formValue{text: "1.2.0"}},
		{formSemver, "`1.2.3`", formValue{text: "1.2.3"}},
		{formSemver, "```\n1.2.3\n```", formValue{text: "1.2.3"}},
		{formSemver, "1.2.3\n1.2.4", none},
		{formSemver, "the newest", none},
		{formNumber, "7", formValue{number: 7}},
		{formNumber, "-2.50", formValue{number: -2.5}},
		{formList, "A, B", formValue{list: []string{"A", "B"}}},
		{formList, "- A\n* B, C\n\n+ D\n-E", formValue{list: []string{"A", "B", "C", "D", "-E"}}},
		{formList, " , ,\n-", formValue{list: []string{"-"}}},
		{formList, ",", none},
		{formList, strings.Repeat("a,", 200), formValue{list: slices.Repeat([]string{"a"}, 100)}},
		{formList, strings.Repeat("é", 257) + ", b", formValue{list: []string{"b"}}},
		{formCheckboxes, "- [x] A\n- [ ] B\n- [X] C, d\n* [x]  E ", formValue{list: []string{"A", "C, d", "E"}}},
		{formCheckboxes, "- [ ] A", none},
		{formCheckboxes, "text [x] A\n- [x]\n- [xx] B\n- [x]C", none},
		{formCheckboxes, "```\n- [x] A\n```\n- [x] B", formValue{list: []string{"B"}}},
		{formCheckboxes, strings.Repeat("- [x] a\n", 200), formValue{list: slices.Repeat([]string{"a"}, 100)}},
	}
	for _, tt := range tests {
		got := (&formField{typ: tt.typ}).value(markdownLines(tt.in))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(formValue{})); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.typ, tt.in, diff)
		}
	}
	for _, in := range []string{"", "x", "1e9", "NaN", "Inf", "0x10", "1,000", "1.", ".5", strings.Repeat("1", 16)} {
		if got := (&formField{typ: formNumber}).value(markdownLines(in)); !got.absent || !math.IsNaN(got.number) {
			t.Errorf("number %q: got %+v", in, got)
		}
	}
}

// worstBodies are texts on which a reader of Markdown could take long.
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

// BenchmarkForms reads the worst texts as large as an issue may be.
func BenchmarkForms(b *testing.B) {
	for name, body := range worstBodies(65_536) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				readForm("### a\n"+body, formList)
			}
		})
	}
}

func readForm(body, typ string) formValue {
	return newFormReader(body).value(&formField{heading: "a", typ: typ})
}

// FuzzForms: no text makes the reader panic, and what it yields is bounded.
func FuzzForms(f *testing.F) {
	for _, body := range worstBodies(100) {
		f.Add(body)
	}
	f.Add("### A\n\n- [x] b, c\n\n```sh\n### A\n```\n### A\r\n\r\nd")
	f.Fuzz(func(t *testing.T, body string) {
		lines := markdownLines(body)
		if n := len(lines); n > strings.Count(body, "\n")+1 {
			t.Errorf("%d lines", n)
		}
		for _, typ := range formTypes() {
			v := readForm(body, typ)
			if len(v.text) > len(body)+len("1.0.0") || len(v.list) > maxItems || typ == formNumber && v.absent != math.IsNaN(v.number) {
				t.Errorf("%s: got %+v", typ, v)
			}
			for _, item := range v.list {
				if item == "" || utf8.RuneCountInString(item) > maxItem || strings.Contains(item, "\n") {
					t.Errorf("%s: got the item %q", typ, item)
				}
			}
		}
	})
}
