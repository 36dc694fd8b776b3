package rules

import (
	"fmt"
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
		known := Known{}
		for i := range hostileFiles {
			known.Changed = append(known.Changed, strings.Repeat("a/", folders)+fmt.Sprint(i))
		}
		v := &evaluation{env: newEnv(Facts{Lookup: known})}
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
