package backtest

import (
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
)

const maxTitle = 80 // characters

// oneLine makes foreign text fit for a line of any of the formats; each escapes it
// besides.
func oneLine(s string) string {
	r := []rune(sanitize.Line(s))
	if len(r) > maxTitle {
		r = append(r[:maxTitle-1], '…')
	}
	return string(r)
}

// webURL returns an address if it may be used in a link, else an empty text.
func webURL(s string) string {
	web := strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>()[]\\`", r) }
	if !web || strings.ContainsFunc(s, odd) || len(s) >= 500 {
		return ""
	}
	return s
}

// firstLine is the first line of an error, fit for a log.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(sanitize.Log(line))
}
