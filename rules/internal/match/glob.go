package match

import (
	"strings"
)

// Glob reports whether a pattern matches s. "*" stands for any characters; case is ignored.
func Glob(glob, s string) bool {
	glob, s = strings.ToLower(glob), strings.ToLower(s)
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, last)
}
