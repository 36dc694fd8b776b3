package text

import (
	"path"
	"strings"
)

// MatchPath reports whether a glob matches a path. "**" matches any number of folders, "*" any part
// of one name. "**" also matches no folder: "a/**" matches "a". A malformed glob matches nothing.
// The work grows at most with the product of both lengths.
func MatchPath(glob, name string) bool {
	parts, folders := strings.Split(glob, "/"), strings.Split(name, "/")
	p, f := 0, 0
	anywhere, from := -1, 0 // index of the last "**", and of the first folder that it does not cover yet
	for f < len(folders) {
		if p < len(parts) && parts[p] == "**" {
			anywhere, from = p, f
			p++
			continue
		}
		if p < len(parts) {
			if ok, err := path.Match(parts[p], folders[f]); ok && err == nil {
				p, f = p+1, f+1
				continue
			}
		}
		// The parts before the last "**" match. Let it cover one folder more.
		if anywhere < 0 {
			return false
		}
		from++
		p, f = anywhere+1, from
	}
	for p < len(parts) && parts[p] == "**" {
		p++
	}
	return p == len(parts)
}
