// Package changelog reads the sections of CHANGELOG.md.
package changelog

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/release/version"
)

var (
	heading = regexp.MustCompile(`^## \[([^\]]+)\](?: - (\S+))?\s*$`)
	entry   = regexp.MustCompile(`(?m)^[-*] \S`)
)

// Section returns the notes of a version: the text below its heading "## [1.2.3] - 2026-01-31".
// It reports all mistakes at once: no heading, two of them, a heading without a date, a section
// without an entry, entries that still stand below [Unreleased].
func Section(text string, v version.Version) (string, error) {
	var mistakes []error
	found, unreleased := 0, ""
	var notes strings.Builder
	var date, name string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			name = ""
			if parts := heading.FindStringSubmatch(strings.TrimSpace(line)); parts != nil {
				name = parts[1]
				if name == v.String() {
					found, date = found+1, parts[2]
				}
			}
			continue
		}
		switch name {
		case v.String():
			notes.WriteString(line)
		case "Unreleased":
			unreleased += line
		}
	}
	switch found {
	case 0:
		mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md has no section for %s: add \"## [%s] - YYYY-MM-DD\"", v, v))
	case 1:
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md: the heading of %s has no date: want \"## [%s] - YYYY-MM-DD\"", v, v))
		}
		if !entry.MatchString(notes.String()) {
			mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md: the section of %s has no entry", v))
		}
	default:
		mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md has %d sections for %s: want one", found, v))
	}
	if entry.MatchString(unreleased) {
		mistakes = append(mistakes, fmt.Errorf("CHANGELOG.md: [Unreleased] still has entries: move them to the section of %s", v))
	}
	if err := errors.Join(mistakes...); err != nil {
		return "", err
	}
	return strings.TrimSpace(notes.String()) + "\n", nil
}

// Versions returns the versions with a section, in the order of the file. Other headings are
// left out.
func Versions(text string) []version.Version {
	var list []version.Version
	for line := range strings.Lines(text) {
		parts := heading.FindStringSubmatch(strings.TrimSpace(line))
		if parts == nil {
			continue
		}
		if v, err := version.Parse("v" + parts[1]); err == nil {
			list = append(list, v)
		}
	}
	return list
}
