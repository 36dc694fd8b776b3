package text

import (
	"path"
	"slices"
	"strings"
)

// AnyFolders stands for any number of folders in a glob for paths, also for none.
const AnyFolders = "**"

// MatchPath reports whether a glob matches a path. "**" matches any number of folders, "*" any part
// of one name. "**" also matches no folder: "a/**" matches "a". A malformed glob matches nothing.
// This is the only language for globs of paths.
func MatchPath(glob, name string) bool {
	var work int
	return MatchFolders(strings.Split(glob, "/"), strings.Split(name, "/"), &work)
}

// MatchFolders is [MatchPath] for a glob and a path that are split at the slashes. Neither is empty.
// It adds to work the number of names that it compares; long names that are compared with wildcards
// count more. The work grows at most with the product of both lengths.
func MatchFolders(glob, folders []string, work *int) bool {
	if !slices.Contains(glob, AnyFolders) && len(glob) != len(folders) {
		return false
	}
	p, f := 0, 0
	anywhere, from := -1, 0 // index of the last "**", and of the first folder that it does not cover yet
	for f < len(folders) {
		if p < len(glob) && glob[p] == AnyFolders {
			// Most globs that match the first folders differ from the path in the last name.
			if last := glob[len(glob)-1]; anywhere < 0 && last != AnyFolders && !matchName(last, folders[len(folders)-1], work) {
				return false
			}
			anywhere, from = p, f
			p++
			continue
		}
		if p < len(glob) && matchName(glob[p], folders[f], work) {
			p, f = p+1, f+1
			continue
		}
		// The parts before the last "**" match. Let it cover one folder more.
		if anywhere < 0 {
			return false
		}
		from++
		p, f = anywhere+1, from
	}
	for p < len(glob) && glob[p] == AnyFolders {
		p++
	}
	return p == len(glob)
}

func matchName(glob, name string, work *int) bool {
	*work++
	if !strings.ContainsAny(glob, `*?[\`) {
		return glob == name
	}
	*work += len(glob) * len(name) / 32 // no extra work for names of ordinary length
	ok, err := path.Match(glob, name)
	return ok && err == nil
}
