package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/org/foreman-action/internal/text"
)

// A Labels limits labels by patterns. "*" stands for any characters; all others stand for
// themselves, in any case.
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
	if why, ok := l.denied(name); ok {
		return why
	}
	if l.Allow != nil && !listed(l.Allow, name) {
		return "policy.labels.allow does not list it" + formerly(l.Allow, name)
	}
	if l.Within != nil && !listed(l.Within, name) {
		return "policy.labels.allow of the file that is extended does not list it" + formerly(l.Within, name)
	}
	return ""
}

// listed reports whether a pattern matches the name of a label.
func listed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return text.MatchLabel(p, name) })
}

// formerly returns a hint for a name that an entry of an allow list matches only as a glob.
func formerly(patterns []string, name string) string {
	for _, p := range patterns {
		if matchGlob(p, name) {
			return fmt.Sprintf(`; only "*" is special in %q`, text.Quote(p))
		}
	}
	return ""
}

// denied returns the reason of the first entry of Deny that matches a name, or a name that it looks
// like. Until version 2 of the configuration an entry also matches as a glob of [path.Match].
func (l Labels) denied(name string) (string, bool) {
	for _, p := range l.Deny {
		switch {
		case text.MatchLabel(p, name):
			return "policy.labels.deny has " + p, true
		case matchGlob(p, name):
			return "policy.labels.deny has " + p + ", which is a glob until version 2", true
		case matchGlob(looks(p), looks(name)) || alike(p, name):
			return fmt.Sprintf("policy.labels.deny has %s, and %+q looks like it", p, text.Quote(name)), true
		}
	}
	return "", false
}

// looks returns a name in Unicode's form NFKC, which replaces full-width and other compatibility
// letters by the usual ones. It removes the case: names with the same full case folding of Unicode
// have the same result ("ß" becomes "ss"), and so do a few more, such as those with a dotless i.
func looks(name string) string {
	return norm.NFKC.String(strings.ReplaceAll(text.Fold(norm.NFKD.String(name)), "ß", "ss"))
}

// alike reports whether a name looks like one that a pattern matches: both are compared as looks
// returns them, without blanks, characters that no font shows, and punctuation at the end.
func alike(pattern, name string) bool {
	// A blank beside "*" separates words: "no *" does not match "note".
	blank := ""
	if p := visible(pattern, " "); strings.Contains(p, " *") || strings.Contains(p, "* ") {
		blank = " "
	}
	pattern, name = visible(pattern, blank), visible(name, blank)
	if pattern == "" {
		return false
	}
	bare := strings.TrimRightFunc(name, ends)
	if text.MatchLabel(pattern, name) || text.MatchLabel(pattern, bare) {
		return true
	}
	stem := strings.TrimRightFunc(pattern, func(r rune) bool { return r != '*' && ends(r) })
	return stem != "" && !strings.HasSuffix(stem, "*") && text.MatchLabel(stem, bare)
}

// visible returns a name as looks does, with each run of blanks replaced, and without the blanks
// around it and the characters that no font shows.
func visible(name, blank string) string {
	var b strings.Builder
	apart := false
	for _, r := range looks(name) {
		switch {
		case isBlank(r):
			apart = b.Len() > 0
			continue
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			continue
		case apart:
			b.WriteString(blank)
			apart = false
		}
		b.WriteRune(r)
	}
	return looks(b.String()) // letters and accents that were apart may be together now
}

// isBlank reports whether a character is blank. Hangul fillers and the empty Braille pattern are
// letters and symbols to Unicode.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) || strings.ContainsRune("\u2800\u115f\u1160\u3164\uffa0", r)
}

// ends reports whether a character at the end of a name is easily overlooked. "#" is not: "C#" does
// not look like "C".
func ends(r rune) bool { return r != '#' && unicode.IsPunct(r) || r == ' ' }

// Match returns the first glob that matches a name, such as that of a team. A label is matched by
// [Labels].
func Match(globs []string, name string) (string, bool) {
	for _, g := range globs {
		if matchGlob(g, name) {
			return g, true
		}
	}
	return "", false
}

// matchGlob is path.Match, except that it ignores case and "*" also matches "/". A malformed glob
// matches nothing.
func matchGlob(glob, name string) bool {
	// path.Match does not let "*" match a slash. Names contain no NUL, so a NUL replaces each slash.
	slash := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(slash.Replace(text.Fold(glob)), slash.Replace(text.Fold(name)))
	return err == nil && ok
}
