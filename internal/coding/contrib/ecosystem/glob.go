package ecosystem

import (
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// members reports whether a folder matches a list of globs of a package manager. "*" matches a
// part of a name, and "**" any folders. A glob after "!" excludes folders.
func members(globs []string, dir string) bool {
	const limit = 500 // globs
	in := false
	for _, glob := range globs[:min(len(globs), limit)] {
		glob, out := strings.CutPrefix(glob, "!")
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		if text.MatchPath(glob, dir) {
			in = !out
		}
	}
	return in
}
