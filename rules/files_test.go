package rules

import (
	"fmt"
	"github.com/org/foreman-action/rules/facts"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// slowMatch is what fileGlob does, written by the definition.
func slowMatch(glob, file []string) bool {
	switch {
	case len(glob) == 0:
		return len(file) == 0
	case glob[0] == anyFolders:
		return slowMatch(glob[1:], file) || len(file) > 0 && slowMatch(glob, file[1:])
	case len(file) == 0:
		return false
	}
	ok, err := path.Match(glob[0], file[0])
	return ok && err == nil && slowMatch(glob[1:], file[1:])
}

func TestFileGlobIsItsDefinition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string, n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = from[random.IntN(len(from))]
		}
		return list
	}
	hits := 0
	for range 20_000 {
		glob, file := pick([]string{"a", "b", "*", "**", "a*", "?"}, 1+random.IntN(6)), pick([]string{"a", "b", "ab", ""}, 1+random.IntN(7))
		want, work := slowMatch(glob, file), 0
		if got := newFileGlob(strings.Join(glob, "/")).match(file, &work); got != want {
			t.Fatalf("%q on %q: got %v, want %v", glob, file, got, want)
		}
		if want {
			hits++
		}
	}
	if hits < 1000 {
		t.Errorf("%d of 20000 match, want more for the test to tell something", hits)
	}
}

// What rules commonly ask works on the largest pull request: nobody can switch them off
// by the number of files, nor by the length of their paths.
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
	}
	for _, folders := range []int{1, 20, 2000} {
		known := facts.Known{}
		for i := range hostileFiles {
			known.Changed = append(known.Changed, strings.Repeat("a/", folders)+fmt.Sprint(i))
		}
		v := &evaluation{env: newEnv(facts.Facts{Lookup: known})}
		for _, src := range tests {
			program, err := newExprCompiler().compile(src, wantBool)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			if _, err := eval(&v.machine, program, v.env); err != nil {
				t.Errorf("%s with %d folders: %v", src, folders, err)
			}
		}
	}
}

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
				work := 0
				if got := newFileGlob(tt.glob).match(strings.Split(file, "/"), &work); got != set.want {
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
		v := &evaluation{env: newEnv(facts.Facts{Lookup: facts.Known{Changed: files}})}
		_, err = eval(&v.machine, program, v.env)
		if (err == nil) != tt.fits || err != nil && !strings.Contains(err.Error(), "more than 100000 steps") {
			t.Errorf("%.60s: got %v", tt.when, err)
		}
	}
}
