package starter

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/layout"
)

// condition writes a condition as a YAML scalar: plain where its meaning stays the same.
func condition(s string) string {
	if strings.Contains(s, " #") || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") {
		return layout.Scalar(s)
	}
	return s
}

func scalar(s string) string { return layout.Scalar(s) }

func quote(s string) string { return strconv.Quote(s) }

func unprintable(c rune) bool { return !unicode.IsPrint(c) }
