// Package layout writes the values of a YAML file within a line width, as far as that does not
// change their meaning.
//
// The functions are pure and safe for concurrent use.
package layout

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/text"
)

// Width is the maximal number of characters in a line, except for a single longer word.
const Width = 118

// Step is the number of spaces by which nested lines are indented.
const Step = 2

// fits reports whether a text fits into a line after an indent.
func fits(indent int, s string) bool { return indent+utf8.RuneCountInString(s) <= Width }

// pad returns the white space of an indent.
func pad(indent int) string { return strings.Repeat(" ", indent) }

var plainText = text.Regexp(`^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$`)

// words are plain scalars that some version of YAML does not read as texts.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// Scalar writes a text as a YAML scalar on one line. The scalar is also valid inside brackets.
func Scalar(s string) string {
	switch {
	case plainText().MatchString(s) && !slices.Contains(words, strings.ToLower(s)):
		return s
	case strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, notPrinted):
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

// notPrinted reports whether a character is invisible.
func notPrinted(r rune) bool { return !unicode.IsPrint(r) }

// Text writes "key: text". A text of several lines becomes a literal block. A text that is too long
// for one line becomes a folded block.
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

// chomp returns the chomping indicator for the header of a block.
func chomp(s string) string {
	if strings.HasSuffix(s, "\n") {
		return ""
	}
	return "-"
}

// literal reports whether a text of several lines can be a literal block.
func literal(s string, lines []string) bool {
	return len(lines) > 1 && inBlock(s, lines)
}

// inBlock reports whether the lines of a text can be in a block.
func inBlock(s string, lines []string) bool {
	if strings.HasPrefix(s, " ") || lines[0] == "" || lines[len(lines)-1] == "" {
		return false
	}
	return !slices.ContainsFunc(lines, func(line string) bool {
		return strings.ContainsFunc(line, notPrinted) || line != "" && strings.TrimSpace(line) == ""
	})
}

// foldable reports whether a text can be a folded block. It cannot if a line begins with a space,
// because YAML keeps the line breaks around such a line.
func foldable(s string, lines []string) bool {
	return inBlock(s, lines) && !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, " ") || strings.HasSuffix(line, " ")
	})
}

// folded returns the lines of a folded block, in which an empty line means a line break.
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

// fill joins words with spaces into lines of at most width characters; lines after the first are
// indented.
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

// Comment writes a text as a comment after a prefix such as "  # ". Lines after the first have a
// larger indent.
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

// List writes "key: [item, …]". The items must already be valid YAML.
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
