// Package format contains the output formats that commands share: colours, JSON, counts, and
// explanations of rules and tests.
package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
)

// A Painter colours text for terminals. The zero value leaves it plain.
type Painter struct{ On bool }

// Paint returns text in a colour, given as an ANSI code such as "32".
func (p Painter) Paint(code, s string) string {
	if !p.On || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold returns text in bold.
func (p Painter) Bold(s string) string { return p.Paint("1", s) }

// Faint returns text of less weight.
func (p Painter) Faint(s string) string { return p.Paint("2", s) }

// JSON returns v as JSON without HTML escapes, indented when indent is not empty. Characters that
// control a terminal or reverse the direction of text are escaped, also where JSON does not require it. A value
// that cannot be encoded is "null".
func JSON(v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	var out strings.Builder
	for _, r := range string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) { // bytes that are not UTF-8 are U+FFFD here
		if r == '\n' || r == ' ' || unicode.IsGraphic(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	return out.String()
}

// Count returns a number with a noun in the singular or the plural.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// maxNames bounds the names in a line.
const maxNames = 10

// Names lists untrusted names in one line.
func Names(list []string) string {
	more := ""
	if rest := len(list) - maxNames; rest > 0 {
		list, more = list[:maxNames], fmt.Sprintf(" and %d more", rest)
	}
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = text.Shorten(sanitize.Line(name), 100)
	}
	return strings.Join(names, ", ") + more
}

// NonEmpty returns the texts that are not empty. It reuses the memory of list.
func NonEmpty(list ...string) []string {
	out := list[:0]
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Lines sanitizes each line of a text for a log.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = sanitize.Log(line)
	}
	return strings.Join(lines, "\n")
}
