// Package workflow reads workflows of GitHub Actions: the steps that run an action, the events and
// conditions on which they run, and the later steps that use their outputs.
//
// The functions are pure and safe for concurrent use.
package workflow

import (
	"path"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
)

// A Problem is a part of a workflow that no rule can express.
type Problem struct {
	Node *yaml.Node
	Msg  string
}

// A Use is a step that runs an action; see [othertools.Step].
type Use othertools.Step

// Uses returns the steps below root that run an action, in the order of the file.
func Uses(root *yaml.Node, action string) []Use {
	var found []Use
	for _, s := range othertools.Steps(root, action) {
		found = append(found, Use(s))
	}
	return found
}

// A Version is the version of an action, such as 5.1.0. A reference such as v5 names the newest
// version 5, so the numbers that it omits are Newest. The zero Version is unknown.
type Version [3]int

// Newest is a number of a version that is larger than all released ones.
const Newest = 1 << 20

// Before reports whether the version is known and older than the version with these numbers.
func (v Version) Before(major, minor, patch int) bool {
	for i, n := range []int{major, minor, patch} {
		if v[i] != n {
			return v.Known() && v[i] < n
		}
	}
	return false
}

// Known reports whether the version is known.
func (v Version) Known() bool { return v != Version{} }

// String returns the version without the numbers that the reference omits.
func (v Version) String() string {
	if v[0] == Newest {
		return "main"
	}
	var parts []string
	for _, n := range v {
		if n < Newest {
			parts = append(parts, strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ".")
}

var (
	tag    = text.Regexp(`^v?([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:\.([0-9]{1,4}))?(?:[.-].*)?$`)
	tagged = text.Regexp(`\bv?([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:\.([0-9]{1,4}))?(?:\.[0-9]+)*\b`)
	branch = text.Regexp(`^(?:main|master|releases?/v?([0-9]{1,4})?.*)$`)
)

// VersionOf reads the version of an action from its reference, or from the comment on that line if
// the reference is a commit. The main branch is the newest version. ok is false if the version is
// unknown.
func VersionOf(uses *yaml.Node) (v Version, ok bool) {
	_, ref, _ := strings.Cut(uses.Value, "@")
	m := tag().FindStringSubmatch(ref)
	if on := branch().FindStringSubmatch(ref); on != nil {
		m = []string{ref, on[1], "", ""}
	}
	if m == nil {
		m = tagged().FindStringSubmatch(uses.LineComment)
	}
	if m == nil {
		return Version{}, false
	}
	return numbers(m[1:]), true
}

// ParseVersion reads a version such as 5.1.0 or 5.
func ParseVersion(s string) (v Version, ok bool) {
	m := tag().FindStringSubmatch(s)
	if m == nil {
		return Version{}, false
	}
	return numbers(m[1:]), true
}

// numbers returns the version with these numbers, of which the last may be empty.
func numbers(digits []string) (v Version) {
	for i, s := range digits {
		if v[i] = Newest; s != "" {
			v[i], _ = strconv.Atoi(s) // at most four digits
		}
	}
	return v
}

// SameFile reports whether a path in a repository is the end of the name of a file.
func SameFile(config, name string) bool {
	config, name = path.Clean(config), path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return config == name || strings.HasSuffix(name, "/"+config)
}
