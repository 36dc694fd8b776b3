// Package semver parses versions of Semantic Versioning 2.0.0 as people write them, and the
// constraints of rules on versions.
package semver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Version is a version of Semantic Versioning 2.0.0 without build metadata, which does not affect
// the order.
type Version struct {
	core [3]int64
	// parts is how many of major, minor and patch were written, 1 to 3; the others are 0.
	parts int
	pre   []string // identifiers of the pre-release; empty for a release
}

// The limits of a version.
const (
	MaxVersion = 256 // bytes
	maxDigits  = 18  // of major, minor or patch
)

// Parse parses a version. It accepts space around it, a "v" before it, and a missing minor or patch
// number.
func Parse(s string) (Version, bool) {
	s = strings.TrimSpace(s)
	if len(s) > MaxVersion {
		return Version{}, false
	}
	if s != "" && (s[0] == 'v' || s[0] == 'V') {
		s = s[1:]
	}
	s, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(s, "-")
	var v Version
	for part := range strings.SplitSeq(core, ".") {
		if v.parts == len(v.core) || !isNumber(part) || len(part) > maxDigits {
			return Version{}, false
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return Version{}, false
		}
		v.core[v.parts] = n
		v.parts++
	}
	if (hasPre || hasBuild) && v.parts < len(v.core) {
		return Version{}, false
	}
	if hasPre {
		v.pre = strings.Split(pre, ".")
	}
	numeric := func(id string) bool { return strings.Trim(id, "0123456789") == "" }
	if slices.ContainsFunc(v.pre, func(id string) bool { return !isIdentifier(id) || numeric(id) && !isNumber(id) }) {
		return Version{}, false
	}
	if hasBuild && slices.ContainsFunc(strings.Split(build, "."), func(id string) bool { return !isIdentifier(id) }) {
		return Version{}, false
	}
	return v, true
}

// isNumber reports whether s consists of digits without a leading zero.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}

// isIdentifier reports whether s consists of one or more of 0-9, A-Z, a-z and -.
func isIdentifier(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// String returns the version in full, without a "v".
func (v Version) String() string {
	core := make([]string, len(v.core))
	for i, n := range v.core {
		core[i] = strconv.FormatInt(n, 10)
	}
	s := strings.Join(core, ".")
	if len(v.pre) > 0 {
		s += "-" + strings.Join(v.pre, ".")
	}
	return s
}

// compare returns -1, 0 or 1 by the precedence of Semantic Versioning, item 11.
func (v Version) compare(w Version) int {
	if c := slices.Compare(v.core[:], w.core[:]); c != 0 {
		return c
	}
	switch {
	case len(v.pre) == 0 && len(w.pre) == 0:
		return 0
	case len(v.pre) == 0:
		return 1
	case len(w.pre) == 0:
		return -1
	}
	return slices.CompareFunc(v.pre, w.pre, compareIdentifiers)
}

// compareIdentifiers compares two identifiers of a pre-release: numbers by value and texts by
// bytes. Numbers come before texts. They have no leading zeros.
func compareIdentifiers(a, b string) int {
	switch x, y := isNumber(a), isNumber(b); {
	case x && y:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return strings.Compare(a, b)
}
