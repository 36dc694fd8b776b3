// Package problem contains the mistakes that readers of files report, such as those of rules and of
// the configuration, each with its place.
package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Problem is one mistake in a file, or a place in it when it has no message. Problems can be
// compared with ==.
type Problem struct {
	File    string // as the caller named it
	Line    int    // from 1; 0 when unknown
	Column  int    // in characters, from 1; 0 when unknown
	Message string // the mistake, and often a suggestion
	Source  string // the text of the line; empty when unknown
	Warning bool   // the file is usable nevertheless
}

// Error returns "file:line:column: message", and below it the source line with a caret under the
// column. Of a long line it shows the part around the caret. The text is safe for a terminal and
// the log of a workflow: U+FFFD replaces line breaks of the message, control characters and the
// start of a command.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	for _, n := range []int{p.Line, p.Column} {
		if n == 0 {
			break
		}
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	head := string(inert([]rune(b.String())))
	if p.Line == 0 || strings.TrimSpace(p.Source) == "" {
		return head
	}
	b.Reset()
	b.WriteString(head)
	p.writeSource(&b)
	return b.String()
}

const (
	sourceIndent = "\n    "
	sourceWidth  = 100 // characters of a source line that are shown
)

func (p Problem) writeSource(b *strings.Builder) {
	line := []rune(p.Source)
	caret := min(p.Column-1, len(line)) // -1: no caret
	from, to := 0, len(line)
	if len(line) > sourceWidth {
		from = max(0, min(caret-sourceWidth/2, len(line)-sourceWidth))
		to = from + sourceWidth
	}
	b.WriteString(sourceIndent)
	lead := ""
	if from > 0 {
		lead = "…"
	}
	b.WriteString(lead)
	b.WriteString(string(inert(slices.Clone(line[from:to]))))
	if to < len(line) {
		b.WriteString("…")
	}
	if caret < 0 {
		return
	}
	b.WriteString(sourceIndent)
	if from > 0 {
		b.WriteByte(' ')
	}
	for _, r := range line[from:caret] {
		// Keep tabs, so that the caret stays below its column.
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteByte('^')
}

// inert makes text of a file harmless for the terminal and the log. It replaces control characters.
// It also replaces the start of commands of GitHub's runner: the second colon of "::" at the start
// of a line, and the bracket of "##[" anywhere. It ignores invisible characters between these,
// because the runner may ignore them.
func inert(line []rune) []rune {
	var last rune // the last visible character
	n := 0        // number of visible characters
	for i, r := range line {
		switch {
		case r == '\t', unicode.IsSpace(r) && !unicode.IsControl(r):
			if n == 0 {
				continue
			}
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == ':' && last == r && n == 1, r == '[' && last == '#':
			line[i] = unicode.ReplacementChar
		case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			continue
		}
		last, n = line[i], n+1
	}
	return line
}

// A List contains the problems of one or several files, sorted by file, line and column. As an error
// it can be found with errors.As.
type List []Problem

// maxShown is the number of problems that Error shows.
const maxShown = 50

// Error returns the problems one after the other. It shows the first 50 and the number of the
// others.
func (ps List) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == maxShown {
			fmt.Fprintf(&b, "… and %d more", len(ps)-i)
			break
		}
		b.WriteString(p.Error())
	}
	return b.String()
}
