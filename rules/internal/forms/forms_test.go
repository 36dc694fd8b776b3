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
		if form, ok := ParseTemplate("a.yml", []byte("body: [{type: textarea, attributes: {label: A}}, {type: textarea, attributes: {label: b}}]")); ok {
			field := &Field{key: "a", Type: Text}
			field.Compare([]Template{form})
			NewReader(body).Value(field)
		}
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

// TestRepeatedHeadings reads a field whose heading is also in the text of another field.
func TestRepeatedHeadings(t *testing.T) {
	t.Parallel()
	form, ok := ParseTemplate("form.yml", []byte(`
body:
  - {type: markdown, attributes: {value: Thanks}}
  - {type: textarea, attributes: {label: What}}
  - {type: input, attributes: {label: Version}}
  - {type: textarea, attributes: {label: Logs}}
`))
	if !ok {
		t.Fatal("no form")
	}
	for _, tt := range []struct{ name, body, want, known string }{
		{"once", "### What\n\na\n\n### Version\n\n1\n\n### Logs\n\nb", "1", "1"},
		{"pasted before", "### What\n\na\n\n### Version\n\n9\n\n### Version\n\n1\n\n### Logs\n\nb", "1", "1"},
		{"pasted before, without blank lines", "### What\n\n### Version\n9\n### Logs\nx\n\n### Version\n\n1\n\n### Logs\n\nb", "1", "1"},
		{"pasted after", "### What\n\na\n\n### Version\n\n1\n\n### Logs\n\nb\n\n### Version\n\n9", "1", "1"},
		{"an issue pasted before", "### What\n\n### What\n\nx\n\n### Version\n\n9\n\n### Logs\n\ny\n\n### Version\n\n1\n\n### Logs\n\nb", "9", "1"},
		{"an issue pasted after", "### What\n\na\n\n### Version\n\n1\n\n### Logs\n\n### What\n\nx\n\n### Version\n\n9\n\n### Logs\n\ny", "1", "1"},
		{"in a comment", "### What\n\n<!--\n### Version\n\n9\n-->\n\n### Version\n\n1\n\n### Logs\n\nb", "1", "1"},
		{"only in a comment", "### What\n\n<!-- ### Old\n\n### Version\n\n9\n\n-->\n\n### Logs\n\nb", "", ""},
		{"after a comment that is not closed", "### What\n\n<!-- a\n\n### Version\n\n1\n\n### Logs\n\nb", "1", "1"},
		{"after a comment in code", "### What\n\n```\n<!--\n```\n\n### Version\n\n1\n\n### Logs\n\n-->", "1", "1"},
		{"after code in a comment", "### What\n\n<!--\n```\n-->\n\n### Version\n\n1\n\n### Logs\n\n```\n", "1", "1"},
		{"another form", "### Other\n\na\n\n### Version\n\n1", "1", "1"},
	} {
		for known, want := range map[bool]string{false: tt.want, true: tt.known} {
			field := &Field{key: "version", Type: Text}
			if known {
				field.Compare([]Template{form})
			}
			if got := NewReader(tt.body).Value(field).Text; got != want {
				t.Errorf("%s, form known %t: got %q, want %q", tt.name, known, got, want)
			}
		}
	}
}

// TestLargeForm reads the worst texts as answers to a form with 200 fields.
func TestLargeForm(t *testing.T) {
	t.Parallel()
	src, answers := strings.Builder{}, strings.Builder{}
	src.WriteString("body:\n")
	for i := range 200 {
		fmt.Fprintf(&src, "  - {type: textarea, attributes: {label: F%d, options: [\"a, b\"]}}\n", i)
		fmt.Fprintf(&answers, "### F%d\n\n%d\n\n", i, i)
	}
	form, ok := ParseTemplate("form.yml", []byte(src.String()))
	if !ok {
		t.Fatal("no form")
	}
	for _, pasted := range []string{"", "### F0\n", strings.Repeat("### x\n", 10_000), answers.String(), strings.Repeat("### F7\n\n", 5000)} {
		body := strings.Replace(answers.String(), "\n\n17\n\n", "\n\n17\n\n"+pasted, 1)
		for _, i := range []int{0, 17, 18, 199} {
			field := &Field{key: fmt.Sprintf("f%d", i), Type: Text}
			field.Compare([]Template{form})
			if got := NewReader(body).Value(field).Text; got != fmt.Sprint(i) {
				t.Errorf("F%d with %.20q pasted into F17: got %.20q", i, pasted, got)
			}
		}
	}
}

// TestKnownOptions reads answers to fields of a form.
func TestKnownOptions(t *testing.T) {
	t.Parallel()
	form, _ := ParseTemplate("form.yml", []byte(`
body:
  - {type: dropdown, attributes: {label: System, multiple: true, options: ["Windows 10", "Windows 10, 11", "Windows 10, 11, server", Linux]}}
  - {type: dropdown, attributes: {label: Part, options: [CLI, "Server, client"]}}
  - {type: textarea, attributes: {label: What}}
`))
	for _, tt := range []struct {
		heading, typ, in string
		list             []string
		text             string
	}{
		{"system", List, "Windows 10, 11, Linux", []string{"Windows 10, 11", "Linux"}, ""},
		{"system", List, "Linux, Windows 10, 11, server, Windows 10", []string{"Linux", "Windows 10, 11, server", "Windows 10"}, ""},
		{"system", List, "Windows 10, 110", []string{"Windows 10", "110"}, ""},
		{"system", List, "None", []string{}, ""},
		{"part", Text, "None", []string{}, ""},
		{"part", Text, "Server, client", nil, "Server, client"},
		{"part", List, "Server, client", []string{"Server, client"}, ""},
		{"what", Text, "None", nil, "None"},
		{"what", List, "None", []string{}, ""},
		{"what", Text, "_No response_", []string{}, ""},
		{"other", Text, "None", nil, "None"},
		{"other", List, "a, None", []string{"a", "None"}, ""},
	} {
		field := &Field{key: tt.heading, Type: tt.typ}
		field.Compare([]Template{form})
		got := field.value(markdown.Lines(tt.in))
		if diff := cmp.Diff(tt.list, got.List); diff != "" || got.Text != tt.text {
			t.Errorf("%s %s %q: got %+v", tt.heading, tt.typ, tt.in, got)
		}
	}
}
