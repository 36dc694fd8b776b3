package backtest

import (
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
)

const maxTitle = 80 // characters

// oneLine makes untrusted text safe for one line of any format. Each format escapes it in addition.
func oneLine(s string) string {
	r := []rune(sanitize.Line(s))
	if len(r) > maxTitle {
		r = append(r[:maxTitle-1], '…')
	}
	return string(r)
}

// webURL returns s if it is safe as the address of a link, else "".
func webURL(s string) string {
	web := strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>()[]\\`", r) }
	if !web || strings.ContainsFunc(s, odd) || len(s) >= 500 {
		return ""
	}
	return s
}

// firstLine returns the first line of an error, safe for a log.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(sanitize.Log(line))
}
