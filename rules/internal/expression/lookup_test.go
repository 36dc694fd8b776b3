package expression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// Common conditions work on the largest pull request. So an author cannot switch rules off by the
// number of files or by the length of their paths.
func TestOrdinaryGlobsFitTheLargestPullRequest(t *testing.T) {
	t.Parallel()
	var prefixes, suffixes []string
	for i := range 30 {
		prefixes = append(prefixes, fmt.Sprintf("%q", fmt.Sprintf("component-%d/**", i)))
		suffixes = append(suffixes, fmt.Sprintf("%q", fmt.Sprintf("**/*.x%d", i)))
	}
	tests := []string{
		"any_file(" + strings.Join(prefixes, ", ") + ")",
		"any_file(" + strings.Join(suffixes, ", ") + ")",
		`not all_files("docs/**", "**/*.md", "LICENSE") and not any_file("*/test/**", "src/*/gen/*.go")`,
		`any(pr.files, matches_glob(#, "src/**", "lib/**", "cmd/*.go") and not matches_glob(#, "**/.*", "**/.*/**"))`,
	}
	for _, folders := range []int{1, 20, 2000} {
		known := facts.Known{}
		for i := range hostileFiles {
			known.Changed = append(known.Changed, strings.Repeat("a/", folders)+fmt.Sprint(i))
		}
		v := NewEvaluation(t.Context(), facts.Facts{Lookup: known})
		for _, src := range tests {
			program, err := NewCompiler(symbols.New()).compile(src, Bool)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			if _, err := eval(&v.machine, program, v.env); err != nil {
				t.Errorf("%s with %d folders: %v", src, folders, err)
			}
		}
	}
}

// Matching many globs with the files of the largest pull request stays within the limit; matching
// more globs is an error.
func TestFilesAreCharged(t *testing.T) {
	t.Parallel()
	files := make([]string, 3000)
	for i := range files {
		files[i] = "internal/very/deep/folder/file" + strings.Repeat("x", i%50) + ".go"
	}
	globs := func(n int, glob string) string {
		return "all_files(" + strings.Repeat("`"+glob+"`, ", n-1) + "`" + glob + "`)"
	}
	for _, tt := range []struct {
		when string
		fits bool
	}{
		{globs(34, "docs/**"), true},
		{globs(20, "**/*.md"), true},
		{globs(100, "**/**/**/*.md"), false},
		{"all(1..1000, not any_file(`x/*`))", false},
	} {
		c := NewCompiler(symbols.New())
		program, err := c.compile(tt.when, Bool)
		if err != nil {
			t.Fatal(err)
		}
		v := NewEvaluation(t.Context(), facts.Facts{Lookup: facts.Known{Changed: files}})
		_, err = eval(&v.machine, program, v.env)
		if (err == nil) != tt.fits || err != nil && !strings.Contains(err.Error(), "more than 100000 steps") {
			t.Errorf("%.60s: got %v", tt.when, err)
		}
	}
}
