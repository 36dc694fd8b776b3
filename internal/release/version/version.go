// Package version parses the versions that can be released: vX.Y.Z.
package version

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// A Version is a version without a suffix.
type Version struct{ Major, Minor, Patch uint32 }

var form = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

// Parse parses a tag such as v1.2.3.
func Parse(tag string) (Version, error) {
	refuse := func() (Version, error) {
		return Version{}, fmt.Errorf("tag %q is no version: want vX.Y.Z, such as v1.2.3", tag)
	}
	parts := form.FindStringSubmatch(tag)
	if parts == nil {
		return refuse()
	}
	var numbers [3]uint32
	for i, part := range parts[1:] {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return refuse()
		}
		numbers[i] = uint32(n)
	}
	return Version{numbers[0], numbers[1], numbers[2]}, nil
}

// String returns the version without the v, such as 1.2.3.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Tag returns the version as a tag, such as v1.2.3.
func (v Version) Tag() string { return "v" + v.String() }

// Compare returns -1, 0 or 1: whether v is older than, equal to or newer than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// Moving returns the tags that move to v, such as v1 and v1.2. A tag stays where it is when
// existing contains a newer version that it covers: v1 does not return from 1.3.0 to 1.2.4.
func (v Version) Moving(existing []Version) []string {
	major, minor := true, true
	for _, w := range existing {
		if w.Major == v.Major && w.Compare(v) > 0 {
			major = false
			minor = minor && w.Minor != v.Minor
		}
	}
	var tags []string
	if major {
		tags = append(tags, fmt.Sprintf("v%d", v.Major))
	}
	if minor {
		tags = append(tags, fmt.Sprintf("v%d.%d", v.Major, v.Minor))
	}
	return tags
}
