package ecosystem

import (
	"path"
	"strings"
)

// members reports whether a folder matches a list of globs of a package manager. "*" matches a
// part of a name, and "**" any folders. A glob after "!" excludes folders.
func members(globs []string, dir string) bool {
	const limit = 500 // globs
	in := false
	for _, glob := range globs[:min(len(globs), limit)] {
		glob, out := strings.CutPrefix(glob, "!")
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		if matches(strings.Split(glob, "/"), strings.Split(dir, "/")) {
			in = !out
		}
	}
	return in
}

// matches reports whether a glob matches a path. Both are split at slashes.
func matches(glob, names []string) bool {
	g, n := 0, 0
	star, from := -1, 0 // index of the last "**", and of the first name that it does not cover yet
	for n < len(names) {
		if g < len(glob) && glob[g] == "**" {
			star, from = g, n
			g++
			continue
		}
		if g < len(glob) {
			if ok, err := path.Match(glob[g], names[n]); ok && err == nil {
				g, n = g+1, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		g, n = star+1, from
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}
