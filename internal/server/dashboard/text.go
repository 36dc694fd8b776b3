package dashboard

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
)

// How many characters are shown of texts that others wrote.
const (
	maxWord  = 80
	maxTitle = 200
	maxLine  = 2000
	maxBlock = 20_000
)

// block is text of several lines for the page, without what could not be seen in it,
// and cut. The template escapes it.
func block(s string, most int) string {
	// Cleaning goes through all of it, and a text may have 32 MiB.
	if rough := 16 * most; len(s) > rough {
		s = s[:rough]
	}
	return clip(strings.TrimSpace(sanitize.Text(s)), most)
}

// line is block on one line.
func line(s string, most int) string {
	return clip(strings.Join(strings.Fields(block(s, most)), " "), most)
}

// word is a name, such as that of a state.
func word(s string) string { return line(s, maxWord) }

// clip cuts s to so many characters, the ellipsis among them.
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

// issueURL is the address of an issue; empty when none can be made.
func (d *Dashboard) issueURL(repo string, issue int) string {
	owner, name, ok := protocol.SplitRepo(repo)
	if !ok || issue < 1 || d.github.Scheme != "https" {
		return ""
	}
	return d.github.JoinPath(owner, name, "issues", strconv.Itoa(issue)).String()
}

// link returns the address if it leads to the configured GitHub, else nothing: reports
// tell addresses that came from elsewhere.
func (d *Dashboard) link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || d.github.Scheme != "https" || u.User != nil || len(address) > maxLine ||
		!strings.EqualFold(u.Host, d.github.Host) {
		return ""
	}
	return u.String()
}
