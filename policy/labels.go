package policy

import (
	"path"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/org/foreman-action/internal/text"
)

// A Labels limits labels by glob, without regard to case; "*" matches any
// run of characters, "/" included.
type Labels struct {
	Allow []string `yaml:"allow"` // nil: every label; empty: none
	Deny  []string `yaml:"deny"`  // wins over Allow
	// Within is the list of a file that is extended, which must allow the label as
	// well; nil: every label.
	Within []string `yaml:"-"`
}

// Allows reports whether a label may be added or removed.
func (l Labels) Allows(label string) bool { return l.Refuses(label) == "" }

// Refuses returns why a label may not be touched, or is empty.
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

// denied returns the first glob of Deny that matches a name or its compatible forms.
func (l Labels) denied(name string) (string, bool) {
	for _, g := range l.Deny {
		if matchGlob(g, name) || matchGlob(looks(g), looks(name)) {
			return g, true
		}
	}
	return "", false
}

// looks returns a name in Unicode's form NFKC, in which full-width and other compatible letters
// are the usual ones, with its case folded in full: "ß" as "ss".
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

// matchGlob is path.Match without regard to case and with "*" matching "/" too.
// A broken glob matches nothing; the configuration loader refuses it earlier.
func matchGlob(glob, name string) bool {
	// Label names hold no NUL, so it can stand for the slash.
	slash := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(slash.Replace(text.Fold(glob)), slash.Replace(text.Fold(name)))
	return err == nil && ok
}
