package yamlfile_test

import (
	"strings"
	"testing"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// scalars are the ways to write a value. Each capital letter in a value occurs only once.
var scalars = map[string]string{
	"plain":                     "when: A b C\n",
	"plain in a list":           "- x\n-   A b C\n",
	"plain in flow":             "{when: A b C, x: [D]}\n",
	"plain over lines":          "when: A b\n   C d\n\n   E\n",
	"plain on the next line":    "when:\n  A b C\n",
	"plain with tag and anchor": "when: !!str &x A b C\n",
	"anchor on its own line":    "when: &x\n  A b\n  C\n",
	"single quoted":             "when: 'A ''b'' C'\n",
	"single quoted over lines":  "when: 'A b\n\n\n  C ''\n  D'\n",
	"double quoted":             "when: \"A \\\"b\\\" \\x41 \\u0062 \\U00000063 \\t C\"\n",
	"double quoted over lines":  "when: \"A b\n  C \\\n    D\n\n    E\"\n",
	"literal":                   "when: |\n  A b\n    C\n\n  D\n",
	"literal stripped":          "when: |-\n  A b\n  C\n",
	"literal kept":              "when: |+\n  A b\n\n  C\n\n",
	"literal with indicator":    "when: |2\n    A b\n  C\n",
	"literal with tag":          "when: !!str |\n  A\n  B\n",
	"literal with anchor":       "when: &x\n  |\n  A\n  B\n",
	"literal with comment":      "when: | # why\n  A\n  B\n",
	"literal in a list":         "- - |\n    A\n     B\n",
	"literal starts empty":      "when: |\n\n  A\n  B\n",
	"wide characters":           "when: \"äöü A 😀 B\"\n",
	"tabs":                      "when:\t\"A\tB\"\n",
	"CRLF":                      "x: 1\r\nwhen: |\r\n  A\r\n  B\r\ny: 'C\r\n  D'\r\n",
}

// Every capital letter of a value is found at the same letter of the file.
func TestProblemInFindsEveryLetter(t *testing.T) {
	t.Parallel()
	for name, src := range scalars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := yamlfile.Parse("f", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
			found := 0
			eachScalar(f.Root(), func(n *yaml.Node) {
				line, col := 1, 0
				for _, r := range n.Value {
					col++
					if r == '\n' {
						line, col = line+1, 0
					}
					if !unicode.IsUpper(r) {
						continue
					}
					p := f.At(n, line, col, "")
					if got := []rune(lines[p.Line-1])[p.Column-1]; got != r && got != '\\' {
						t.Errorf("value %q: %c at %d:%d was found at %d:%d, which is %q", n.Value, r, line, col, p.Line, p.Column, got)
					}
					found++
				}
			})
			if found < 2 {
				t.Errorf("only %d letters checked", found)
			}
		})
	}
}

func TestProblemInFallsBackToTheScalar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		line, col int
		want      [2]int
	}{
		{"folded block", "when: >\n  A b\n  C\n", 1, 3, [2]int{1, 7}},
		{"line beyond the literal", "when: |\n  A\n", 9, 1, [2]int{1, 7}},
		{"column beyond the literal's line", "when: |\n  abc\n", 1, 50, [2]int{2, 6}},
		{"beyond a plain scalar", "when: abc\n", 1, 50, [2]int{1, 10}},
		{"beyond a quoted scalar", "when: 'abc'\n", 4, 1, [2]int{1, 11}},
		{"zero", "when: abc\n", 0, 0, [2]int{1, 7}},
		{"end of a line in quotes", "when: \"a\\nb\"\n", 1, 9, [2]int{1, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := yamlfile.Parse("f", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			p := f.At(f.Root().Content[1], tt.line, tt.col, "")
			if got := [2]int{p.Line, p.Column}; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAtWithoutScalar(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: 1\nb: [x]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.At(nil, 3, 3, ""); p.Line != 1 || p.Column != 1 {
		t.Errorf("nil: got %d:%d, want 1:1", p.Line, p.Column)
	}
	if p := f.At(f.Root().Content[3], 3, 3, ""); p.Line != 2 || p.Column != 4 {
		t.Errorf("list: got %d:%d, want 2:4", p.Line, p.Column)
	}
}

func eachScalar(n *yaml.Node, do func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		do(n)
	}
	for _, c := range n.Content {
		eachScalar(c, do)
	}
}
