package layout

import (
	"slices"
	"strings"
)

// Lines splits a text into lines at the same line breaks as YAML's scanner.
func Lines(src []byte) []string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(src))
	return strings.Split(text, "\n")
}

// Excerpt returns the lines from one number to another, both included and counted from 1. It
// shortens a long excerpt.
func Excerpt(lines []string, from, to int) []string {
	if from == 0 || from > len(lines) {
		return nil
	}
	const (
		maxLines = 12
		most     = 100 // maximal number of bytes of a line
	)
	lines = lines[from-1 : max(from, min(to, len(lines)))]
	for len(lines) > 1 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && !strings.HasPrefix(last, "#") {
			break
		}
		lines = lines[:len(lines)-1]
	}
	out := slices.Clone(lines[:min(len(lines), maxLines)])
	for i, line := range out {
		if len(line) > most {
			out[i] = strings.ToValidUTF8(line[:most], "") + "…"
		}
	}
	if len(lines) > maxLines {
		out = append(out, "…")
	}
	return out
}
