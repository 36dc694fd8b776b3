package text

import (
	"path"
	"strings"
)

// MatchPath reports whether a glob matches a path. "**" matches any number of folders, "*" any part
// of one name. "**" also matches no folder: "a/**" matches "a". A malformed glob matches nothing.
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
