// Package layout writes the values of a YAML file within the width of a line, as far as
// their meaning stays the same.
//
// The functions are pure and safe for concurrent use.
package layout

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is how many characters a line has at most, unless it holds a word that is longer.
const Width = 118

// Step is how far the lines below a line are indented.
const Step = 2

// fits reports whether a text fits into a line behind an indent.
func fits(indent int, s string) bool { return indent+utf8.RuneCountInString(s) <= Width }

// pad returns the white space of an indent.
func pad(indent int) string { return strings.Repeat(" ", indent) }

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$`)

// words are plain scalars that YAML, or an older version of it, takes for no text.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// Scalar writes a text as a YAML scalar on one line, which can also stand in brackets.
func Scalar(s string) string {
	switch {
	case plainText.MatchString(s) && !slices.Contains(words, strings.ToLower(s)):
		return s
	case strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, notPrinted):
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

// notPrinted reports whether a character would not be seen where it stands.
func notPrinted(r rune) bool { return !unicode.IsPrint(r) }

// Text writes "key: text". A text of several lines becomes a literal block, and one that is
// too long for a line a folded one.
func Text(indent int, key, s string) []string {
	head := pad(indent) + key + ":"
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	tooLong := slices.ContainsFunc(lines, func(l string) bool { return !fits(indent+Step, l) })
	switch {
	case tooLong && foldable(s, lines):
		return append([]string{head + " >" + chomp(s)}, folded(indent+Step, lines)...)
	case literal(s, lines):
		out := []string{head + " |" + chomp(s)}
		for _, line := range lines {
			if line != "" {
				line = pad(indent+Step) + line
			}
			out = append(out, line)
		}
		return out
	}
	return []string{head + " " + Scalar(s)}
}

// chomp returns the chomping indicator of a block's head.
func chomp(s string) string {
	if strings.HasSuffix(s, "\n") {
		return ""
	}
	return "-"
}

// literal reports whether a text of several lines can stand in a literal block.
func literal(s string, lines []string) bool {
	return len(lines) > 1 && inBlock(s, lines)
}

// inBlock reports whether the lines of a text can stand in a block.
func inBlock(s string, lines []string) bool {
	if strings.HasPrefix(s, " ") || lines[0] == "" || lines[len(lines)-1] == "" {
		return false
	}
	return !slices.ContainsFunc(lines, func(line string) bool {
		return strings.ContainsFunc(line, notPrinted) || line != "" && strings.TrimSpace(line) == ""
	})
}

// foldable reports whether a text can stand in a folded block: YAML keeps the line breaks
// around lines that begin with a space.
func foldable(s string, lines []string) bool {
	return inBlock(s, lines) && !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, " ") || strings.HasSuffix(line, " ")
	})
}

// folded returns the lines of a folded block, where a line break becomes an empty line.
func folded(indent int, lines []string) []string {
	var out []string
	for i, line := range lines {
		if i > 0 {
			out = append(out, "")
		}
		if line == "" {
			continue
		}
		// An empty line of the text is the line break after it.
		for _, part := range fill(spaced(line), Width-indent, 0) {
			out = append(out, pad(indent)+part)
		}
	}
	return out
}

// spaced splits a text at its single spaces.
func spaced(s string) []string {
	var out []string
	start := 0
	for i := 1; i+1 < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' && s[i+1] != ' ' {
			out, start = append(out, s[start:i]), i+1
		}
	}
	return append(out, s[start:])
}

// fill joins words with spaces into lines of a width; lines after the first are indented.
func fill(words []string, width, indent int) []string {
	var out []string
	var line strings.Builder
	size := 0
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		if size > 0 && size+1+n > width {
			out = append(out, line.String())
			line.Reset()
			line.WriteString(pad(indent))
			line.WriteString(w)
			size = indent + n
			continue
		}
		if size > 0 {
			line.WriteByte(' ')
			size++
		}
		line.WriteString(w)
		size += n
	}
	return append(out, line.String())
}

// Comment writes a text as a comment behind a prefix such as "  # ". Lines after the first
// are indented further.
func Comment(prefix, s string) []string {
	s = strings.Map(func(r rune) rune {
		if notPrinted(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(s, "\t", "  "))
	if fits(len(prefix), s) {
		return []string{prefix + s}
	}
	out := fill(spaced(s), Width-len(prefix), Step)
	for i := range out {
		out[i] = prefix + out[i]
	}
	return out
}

// List writes "key: [item, …]" with items as they stand.
func List(indent int, key string, items []string) []string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = item + ","
	}
	last := len(parts) - 1
	parts[0] = key + ": [" + parts[0]
	parts[last] = strings.TrimSuffix(parts[last], ",") + "]"
	out := fill(parts, Width-indent, Step)
	for i := range out {
		out[i] = pad(indent) + out[i]
	}
	return out
}
