package text

import (
	"path"
	"strings"
)

// MatchPath reports whether a glob matches a path: "**" stands for any number of folders,
// "*" for any part of one name. What stands at the place of a folder matches as well:
// "a/**" matches "a". A glob that is malformed matches nothing.
func MatchPath(glob, name string) bool {
	return matchParts(strings.Split(glob, "/"), strings.Split(name, "/"))
}

func matchParts(glob, parts []string) bool {
	for i, part := range glob {
		if part == "**" {
			for from := i; from <= len(parts); from++ {
				if matchParts(glob[i+1:], parts[from:]) {
					return true
				}
			}
			return false
		}
		if i >= len(parts) {
			return false
		}
		if ok, err := path.Match(part, parts[i]); err != nil || !ok {
			return false
		}
	}
	return len(glob) == len(parts)
}
