package match

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
				if got, _ := AnyPath([][]string{SplitGlob(tt.glob)}, file); got != set.want {
					t.Errorf("%q on %q: got %v", tt.glob, file, got)
				}
			}
		}
	}
}
