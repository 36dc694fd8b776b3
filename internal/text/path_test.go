package text

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

func TestMatchPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, name string
		want       bool
	}{
		{"a/b", "a/b", true},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/**", "a", true},
		{"a/**", "a/b/c", true},
		{"**/c", "c", true},
		{"**/c", "a/b/c", true},
		{"**/b/**/d", "a/b/c/b/d", true},
		{"**/b/**/d", "a/c/d", false},
		{"**/b/c", "b/b/c", true},
		{"**", "a/b", true},
		{"**/**", "a", true},
		{"", "", true},
		{"", "a", false},
		{"a/[", "a/[", false},
		{"**/[", "a/[", false},
		{"[ab]/?", "b/x", true},
	}
	for _, tt := range tests {
		if got := MatchPath(tt.glob, tt.name); got != tt.want {
			t.Errorf("MatchPath(%q, %q): got %v, want %v", tt.glob, tt.name, got, tt.want)
		}
	}
}

// TestMatchPathLong matches globs whose number of possible matches grows with a high power of the
// length of the path. Trying all of them would take days.
func TestMatchPathLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a/", 2048) + "b"
	for glob, want := range map[string]bool{
		"**/a/**/a/**/a/**/c":            false,
		"**/a/**/a/**/a/**/b":            true,
		strings.Repeat("**/a/", 8) + "c": false,
		strings.Repeat("**/", 300) + "c": false,
	} {
		if got := MatchPath(glob, long); got != want {
			t.Errorf("MatchPath(%.30q, a path of %d bytes): got %v, want %v", glob, len(long), got, want)
		}
	}
}

// MatchPath agrees with everyWay on random globs and paths.
func TestMatchPathAgrees(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = from[random.IntN(len(from))]
		}
		return strings.Join(list, "/")
	}
	hits := 0
	for range 20_000 {
		glob, name := pick([]string{"a", "b", "*", "**", "a*", "?", "["}, 1+random.IntN(6)), pick([]string{"a", "b", "ab", "["}, 1+random.IntN(7))
		want := everyWay(strings.Split(glob, "/"), strings.Split(name, "/"))
		if got := MatchPath(glob, name); got != want {
			t.Fatalf("%q on %q: got %v, want %v", glob, name, got, want)
		}
		if want {
			hits++
		}
	}
	if hits < 1000 {
		t.Errorf("%d of 20,000 match: too few to tell", hits)
	}
}

// FuzzMatchPath compares MatchPath with a definition that tries every number of folders for each
// "**".
func FuzzMatchPath(f *testing.F) {
	for _, seed := range [][2]string{{"a/**", "a"}, {"**/b/**/d", "a/b/c/b/d"}, {"**/[", "["}, {"*/**/?", "a/b"}, {"", ""}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(glob) > 24 || len(name) > 24 {
			return
		}
		if got, want := MatchPath(glob, name), everyWay(strings.Split(glob, "/"), strings.Split(name, "/")); got != want {
			t.Errorf("MatchPath(%q, %q): got %v, want %v", glob, name, got, want)
		}
	})
}

func everyWay(glob, folders []string) bool {
	switch {
	case len(glob) == 0:
		return len(folders) == 0
	case glob[0] == "**" && everyWay(glob[1:], folders):
		return true
	case len(folders) == 0:
		return false
	case glob[0] == "**":
		return everyWay(glob, folders[1:])
	}
	ok, err := path.Match(glob[0], folders[0])
	return ok && err == nil && everyWay(glob[1:], folders[1:])
}
