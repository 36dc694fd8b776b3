package rules

import (
	"strings"
	"testing"
)

func TestFileMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, match, not string
	}{
		{"*.go", "a.go", "x/a.go .go/x a.go/x"},
		{"**/*.go", "a.go x/a.go x/y/a.go", "a.gox x/a.go/y"},
		{"src/**", "src src/a src/a/b", "srcs/a x/src/a"},
		{"src/", "src/a src/a/b src", "x/src/a"},
		{"src/**/b", "src/b src/a/b src/a/a/b", "src/b/a src/ab"},
		{"**", "a a/b", ""},
		{"**/**/a", "a x/a x/y/a", "a/x"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c", "a/c/b a/b/x"},
		{"a?/[xy]/b", "ab/x/b ac/y/b", "a/x/b ab/z/b ab/x"},
		{`a\*`, "a*", "ab"},
		{"", "", "a"},
	}
	for _, tt := range tests {
		for _, set := range []struct {
			files string
			want  bool
		}{{tt.match, true}, {tt.not, false}} {
			for _, file := range strings.Split(set.files, " ") {
				if file == "" && tt.glob != "" {
					continue
				}
				if got, _ := fileMatch(globParts(tt.glob), strings.Split(file, "/")); got != set.want {
					t.Errorf("%q on %q: got %v", tt.glob, file, got)
				}
			}
		}
	}
}

// The files of the largest pull request are affordable with many globs; more are an error.
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
		c := newExprCompiler()
		program, err := c.compile(tt.when, wantBool)
		if err != nil {
			t.Fatal(err)
		}
		v := &evaluation{env: newEnv(Facts{Lookup: Known{Changed: files}})}
		_, err = eval(&v.machine, program, v.env)
		if (err == nil) != tt.fits || err != nil && !strings.Contains(err.Error(), "more than 100000 steps") {
			t.Errorf("%.60s: got %v", tt.when, err)
		}
	}
}
