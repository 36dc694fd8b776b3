package match

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// slowMatch is a slow reference implementation of [PathGlob].
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
		if got := NewPathGlob(strings.Join(glob, "/")).match(file, &work); got != want {
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
				if got := NewPathGlob(tt.glob).match(strings.Split(file, "/"), &work); got != set.want {
					t.Errorf("%q on %q: got %v", tt.glob, file, got)
				}
			}
		}
	}
}
