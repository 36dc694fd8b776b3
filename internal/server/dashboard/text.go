package dashboard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
)

// Limits of untrusted texts, in characters.
const (
	maxWord  = 80
	maxTitle = 200
	maxLine  = 2000
	maxBlock = 20_000
)

// block returns text of several lines for the page, without invisible characters, and
// truncated. The template escapes it.
func block(s string, most int) string {
	// Sanitizing reads the whole text, which may have 32 MiB, so shorten it first.
	if rough := 16 * most; len(s) > rough {
		s = s[:rough]
	}
	return clip(strings.TrimSpace(sanitize.Text(s)), most)
}

// line returns text on one line.
func line(s string, most int) string {
	return clip(strings.Join(strings.Fields(block(s, most)), " "), most)
}

// word returns a short name, such as that of a state, on one line.
func word(s string) string { return line(s, maxWord) }

// clip truncates s to a number of characters, including the ellipsis.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// join joins the parts that are not empty.
func join(parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ")
}

// plural formats a count with a noun. The noun's plural is many; without it, plural appends an "s" to
// the singular.
func plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// links makes links to the configured GitHub.
type links struct{ github *url.URL }

// issue returns the address of an issue, or "" if it has none.
func (l links) issue(repo string, issue int) string {
	owner, name, ok := protocol.SplitRepo(repo)
	if !ok || issue < 1 || l.github.Scheme != "https" {
		return ""
	}
	return l.github.JoinPath(owner, name, "issues", strconv.Itoa(issue)).String()
}

// allowed returns an address from a report if it leads to the configured GitHub; otherwise
// it is empty.
func (l links) allowed(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || l.github.Scheme != "https" || u.User != nil || len(address) > maxLine ||
		!strings.EqualFold(u.Host, l.github.Host) {
		return ""
	}
	return u.String()
}
