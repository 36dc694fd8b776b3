package layout_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/layout"
)

// decoded parses lines as the content of "top" and returns the value of the key "k" in it.
func decoded(t *testing.T, lines []string) string {
	t.Helper()
	var out struct{ Top struct{ K string } }
	src := "top:\n" + strings.Join(lines, "\n") + "\n"
	if err := yaml.Unmarshal([]byte(src), &out); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return out.Top.K
}

// narrow fails the test for lines that are too long although they could be broken.
func narrow(t *testing.T, lines []string) {
	t.Helper()
	for _, l := range lines {
		if utf8.RuneCountInString(l) > layout.Width {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(l), l)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("some words ", 30) + "end"
	tests := []struct {
		name, text string
		lines      int
	}{
		{"plain", "a text", 1},
		{"quoted", "a: text", 1},
		{"lines", "a\nb\n\nc", 5},
		{"ends with a line", "a\nb\n", 3},
		{"long", words, 5},
		{"long lines", words + "\n" + words + "\n\nend\n", 13},
		{"two spaces", words + "  " + words, 8},
		{"a list", "- a\n- b\n" + words, 9},
		{"a heading", "# " + words + "\n" + words, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := layout.Text(10, "k", tt.text)
			if diff := cmp.Diff(tt.text, decoded(t, lines)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			narrow(t, lines)
			if len(lines) != tt.lines {
				t.Errorf("%d lines, want %d:\n%s", len(lines), tt.lines, strings.Join(lines, "\n"))
			}
		})
	}
}

// FuzzText checks that YAML reads back any text that Text has written.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\n\n b", " a", "a ", "a\n \nb", "\ta", "x  y" + strings.Repeat(" z", 90) + "\n\n\nb\n", "'\"\n", "a\r\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		if got := decoded(t, layout.Text(4, "k", s)); got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// joined puts an expression together again that was split into lines, and its constant texts that
// were split with "+".
func joined(lines []string) string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	s := strings.Join(lines, " ")
	for _, q := range []string{"`", `"`} {
		s = strings.ReplaceAll(s, q+" + "+q, "")
	}
	return s
}

func TestExpression(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"short":         "label(`a`)",
		"operators":     strings.Repeat(`label("a") and `, 20) + `label("b")`,
		"arguments":     "any_file(" + strings.Repeat(`"docs/**", `, 30) + `"x")`,
		"a pattern":     "issue.body matches `(?i)" + strings.Repeat(`panic|segfault|`, 30) + "x`",
		"no good place": "issue.body matches `" + strings.Repeat("x", 400) + "` and label(`b`)",
		"escapes":       `issue.body contains "` + strings.Repeat(`\u00e4\n\"\\`, 40) + `"`,
		"letters":       "issue.body matches `" + strings.Repeat("äöü", 100) + "`",
		"a choice":      "any_file(" + strings.Repeat(`"some/folder/**", `, 12) + `"x") ? "label" : "",`,
		"many texts":    strings.Repeat("issue.body matches `"+strings.Repeat("ab ", 60)+"` or ", 4) + "true",
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := layout.Expression(8, s)
			narrow(t, lines)
			if diff := cmp.Diff(s, joined(lines)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("issue.body matches `a b`", 8)
	f.Add(`label("\u00e4\\") ? "x" : ""`+strings.Repeat(` and "abcdefghijklmnop`+"\\n"+`"`, 30), 100)
	f.Fuzz(func(t *testing.T, s string, indent int) {
		if !utf8.ValidString(s) || strings.Contains(s, " + ") || strings.Contains(s, "  ") || strings.TrimSpace(s) != s || indent < 0 || indent > 200 {
			return
		}
		lines := layout.Expression(indent, s)
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, " ")
		}
		got := strings.Join(lines, " ")
		for _, q := range []string{"`", `"`, "'"} {
			got = strings.ReplaceAll(got, q+" + "+q, "")
		}
		if got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestCondition(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts []string
		want  string
	}{
		{"plain", []string{"label(`a`)", "  and label(`b`)"}, "k: label(`a`) and label(`b`)"},
		{"a colon", []string{`issue.title == "a: b"`}, `k: 'issue.title == "a: b"'`},
		{"a comment", []string{"any(x, # == `a`)"}, "k: 'any(x, # == `a`)'"},
		{"both quotes", []string{`issue.title == "it's: b"`}, "k: |\n    issue.title == \"it's: b\""},
		{"begins with a bracket", []string{`("a" == "a")`}, `k: '("a" == "a")'`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff("  "+tt.want, strings.Join(layout.Condition(2, "k", tt.parts), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestComment(t *testing.T) {
	t.Parallel()
	lines := layout.Comment("  # ", strings.Repeat("word ", 40)+"tab\there")
	narrow(t, lines)
	if len(lines) != 2 || !strings.HasPrefix(lines[1], "  #   word") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	lines := layout.List(4, "on", strings.Fields(strings.Repeat("pull_request.synchronize ", 8)))
	narrow(t, lines)
	var out map[string][]string
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &out); err != nil || len(out["on"]) != 8 || len(lines) != 2 {
		t.Errorf("%v: %v\n%s", err, out, strings.Join(lines, "\n"))
	}
}
