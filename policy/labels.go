package policy

import (
	"path"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/org/foreman-action/internal/text"
)

// A Labels limits labels by globs, which ignore case. "*" matches any characters, including "/".
type Labels struct {
	Allow []string `yaml:"allow"` // nil: every label; empty: none
	Deny  []string `yaml:"deny"`  // a label that matches Deny and Allow is refused
	// Within is the allow list of the extended configuration file. A label must match Allow and
	// Within. Nil: every label matches.
	Within []string `yaml:"-"`
}

// Allows reports whether a label may be added or removed.
func (l Labels) Allows(label string) bool { return l.Refuses(label) == "" }

// Refuses returns the reason why a label may not be added or removed, or "" if it may.
func (l Labels) Refuses(name string) string {
	if glob, ok := l.denied(name); ok {
		return "policy.labels.deny has " + glob
	}
	if _, ok := Match(l.Allow, name); !ok && l.Allow != nil {
		return "policy.labels.allow does not list it"
	}
	if _, ok := Match(l.Within, name); !ok && l.Within != nil {
		return "policy.labels.allow of the file that is extended does not list it"
	}
	return ""
}

// denied returns the first glob of Deny that matches a name. Names that look alike match as well,
// such as "bug" in full-width letters.
func (l Labels) denied(name string) (string, bool) {
	for _, g := range l.Deny {
		if matchGlob(g, name) || matchGlob(looks(g), looks(name)) {
			return g, true
		}
	}
	return "", false
}

// looks returns a name in Unicode's form NFKC, which replaces full-width and other compatibility
// letters by the usual ones. It folds the case in full: "ß" becomes "ss".
func looks(name string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
}

// Match returns the first glob that matches name.
func Match(globs []string, name string) (string, bool) {
	for _, g := range globs {
		if matchGlob(g, name) {
			return g, true
		}
	}
	return "", false
}

// matchGlob is path.Match, except that it ignores case and "*" also matches "/". A malformed glob
// matches nothing; the configuration loader rejects it earlier.
func matchGlob(glob, name string) bool {
	// path.Match does not let "*" match a slash. Label names contain no NUL, so a NUL replaces each
	// slash.
	slash := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(slash.Replace(text.Fold(glob)), slash.Replace(text.Fold(name)))
	return err == nil && ok
}
