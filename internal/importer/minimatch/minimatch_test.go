package minimatch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/importer/minimatch"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob    string
		want    minimatch.Glob
		problem string
	}{
		{"**/*.md", minimatch.Glob{Any: []string{"**/*.md"}}, ""},
		{"!docs/**", minimatch.Glob{Negated: true, Any: []string{"docs/**"}}, ""},
		{"!!a", minimatch.Glob{Any: []string{"a"}}, ""},
		{"src/{a,b{c,d}}/x", minimatch.Glob{Any: []string{"src/a/x", "src/bc/x", "src/bd/x"}}, ""},
		{"./src/*", minimatch.Glob{Nothing: "it has a folder named ., so it matches no file"}, ""},
		{"src/./x", minimatch.Glob{Nothing: "it has a folder named ., so it matches no file"}, ""},
		{"{./a,b,c/.}", minimatch.Glob{Any: []string{"b"}}, ""},
		{"a**b/[!x]", minimatch.Glob{Any: []string{"a*b/[^x]"}}, ""},
		{"/a", minimatch.Glob{Nothing: "it begins or ends with /, so it matches no file"}, ""},
		{"!a/", minimatch.Glob{Negated: true, Nothing: "it begins or ends with /, so it matches no file"}, ""},
		{"#a", minimatch.Glob{Nothing: "it matches no file"}, ""},
		{"!#a", minimatch.Glob{Negated: true, Any: []string{"#a"}}, ""},
		{"!(docs)", minimatch.Glob{Negated: true, Any: []string{"(docs)"}}, ""},
		{"!!(docs)", minimatch.Glob{Any: []string{"(docs)"}}, ""},
		{"src/!(docs)", minimatch.Glob{}, "patterns like !(…) have no counterpart"},
		{"+(a|b)", minimatch.Glob{}, "patterns like +(…) have no counterpart"},
		{"{1..3}", minimatch.Glob{}, "its braces contain a range or expand to more than 100 globs"},
		{"[[:alpha:]]", minimatch.Glob{}, "classes like [:alpha:] have no counterpart"},
	}
	for _, tt := range tests {
		got, problem := minimatch.Parse(tt.glob)
		if diff := cmp.Diff(tt.want, got); diff != "" || problem != tt.problem {
			t.Errorf("%s: got problem %q, want %q (-want +got):\n%s", tt.glob, problem, tt.problem, diff)
		}
	}
}
