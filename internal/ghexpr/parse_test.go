package ghexpr_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/ghexpr"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ src, want string }{
		{"GitHub.Actor == 'it''s'", "(== github.actor 'it''s')"},
		{"${{ a || b }} && !c", "(&& (|| a b) (! c))"},
		{"a || b || c && d", "(|| a b (&& c d))"},
		{"a == b < 3 != null", "(!= (== a (< b 3)) null)"},
		{"!(a && b)", "(! (&& a b))"},
		{"contains(github.event.issue.labels.*.name, 'x')", "contains(github.event.issue.labels.*.name 'x')"},
		{"always()", "always()"},
		{"github.event['Label'].name", "github.event.label.name"},
		{"github.event.labels[0][*]", "github.event.labels.0.*"},
		{"matrix[github.job]['a']", "{{matrix github.job}}"},
		{"fromJSON('[1]')[0].a", "{{fromjson('[1]')}}"},
		{"(a || b).c", "{(|| a b)}"},
		{"", ""},
		{"a b", ""},
		{"a ==", ""},
		{"a = b", ""},
		{"'open", ""},
		{"'a'[0]", ""},
		{"a[", ""},
		{"a[0", ""},
		{"f(a,", ""},
		{"f(a b)", ""},
		{"${{ a", ""},
		{"(a", ""},
		{strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100), ""},
		{strings.Repeat("!", 100) + "a", ""},
		{strings.Repeat(" ", 5000) + "a", ""},
	}
	for _, tt := range tests {
		got := ""
		if n, ok := ghexpr.Parse(tt.src); ok {
			got = show(n)
		}
		if got != tt.want {
			t.Errorf("%.60s: got %s, want %s", tt.src, got, tt.want)
		}
	}
}

// show returns a tree as text: operators before their operands, and a part in braces.
func show(n *ghexpr.Node) string {
	var args []string
	for _, arg := range n.Args {
		args = append(args, show(arg))
	}
	list := strings.Join(args, " ")
	switch n.Kind {
	case ghexpr.Literal:
		return "'" + strings.ReplaceAll(n.Text, "'", "''") + "'"
	case ghexpr.Function:
		return n.Text + "(" + list + ")"
	case ghexpr.Operator:
		return "(" + n.Text + " " + list + ")"
	case ghexpr.Part:
		return "{" + list + "}"
	case ghexpr.Word, ghexpr.Path:
	}
	return n.Text
}

// FuzzParse checks that positions are inside of the expression, and operators have operands.
func FuzzParse(f *testing.F) {
	f.Add("contains(fromJSON('[\"a\"]'), github.event.label.name) && !(a['b'] || always())")
	f.Add("${{ 1 == -1.5 || 'x' < github.actor[a][0].b }}")
	f.Fuzz(func(t *testing.T, src string) {
		n, ok := ghexpr.Parse(src)
		if !ok {
			return
		}
		var walk func(n *ghexpr.Node)
		walk = func(n *ghexpr.Node) {
			if n.At < 0 || n.At >= len([]rune(src)) || n.Kind == ghexpr.Operator && n.Text != "!" && len(n.Args) < 2 {
				t.Errorf("%q: got %+v", src, n)
			}
			for _, arg := range n.Args {
				walk(arg)
			}
		}
		walk(n)
	})
}
