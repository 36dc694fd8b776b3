package yamlfile

import (
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/text"
)

// flowValue matches a key and its unquoted value in {…} or […].
var flowValue = text.Regexp(`([{,]\s*[\w./-]+:\s+)([^"'\[\]{},\s][^,{}\[\]]*)`)

// quoteFlow quotes the first unquoted value in {…} whose characters end it too early: a question mark,
// or a colon before a space. col is its column. ok is false if the line has no such value.
func quoteFlow(line string) (quoted string, col int, ok bool) {
	for _, m := range flowValue().FindAllStringSubmatchIndex(line, -1) {
		value := strings.TrimRight(line[m[4]:m[5]], " \t")
		if !strings.Contains(value, "?") && !strings.Contains(value, ": ") {
			continue
		}
		end := m[4] + len(value)
		return strings.TrimSpace(line[:m[4]] + quote(value) + line[end:]), utf8.RuneCountInString(line[:m[4]]) + 1, true
	}
	return "", 0, false
}

// quote writes a text as a quoted value.
func quote(s string) string {
	if strings.ContainsAny(s, `"\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// missingSpace matches a key whose colon is not followed by a space.
var missingSpace = text.Regexp(`^\s*(?:- +)*([A-Za-z_][\w-]*):(\S.*)$`)

// reworded returns our message for a reason of the parser, about a line of the file.
func reworded(reason, line string) string {
	start := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(reason, "did not find expected ',' or '"):
		closing := reason[len(reason)-2 : len(reason)-1]
		return `want "," or "` + closing + `" here; close the bracket, or quote the text that contains a comma, colon, question mark or bracket`
	case reason == "did not find expected node content":
		return "a value is missing here, or a bracket is not closed; close it, or write one item on each line, with \"- \""
	case reason == "could not find expected ':'":
		if m := missingSpace().FindStringSubmatch(line); m != nil {
			return "a colon ends a key only before a space; write " + m[1] + ": " + text.Shorten(m[2], text.Quoted)
		}
		return "this line is no key with a value; write a colon and a space after the key, or indent the line if it continues a text"
	case reason == "did not find expected '-' indicator" && !strings.HasPrefix(start, "-"):
		return `this line is no item of the list above; begin it with "- ", or indent it like the other lines of the item`
	case reason == "did not find expected key", reason == "did not find expected '-' indicator":
		return "the indentation of this line fits none of the lines above; indent it like the lines that it belongs to"
	case reason == "found unexpected end of stream":
		return "the quote that begins here is not closed; close it, or write a text of several lines under \"|\""
	case reason == "mapping values are not allowed in this context":
		return "a key cannot stand here; indent the line like the key above, or quote the whole value if the colon belongs to it"
	case reason == "block sequence entries are not allowed in this context":
		return "a list cannot begin here; write its first \"- \" on a line of its own"
	case reason == "found unknown escape character":
		return `in double quotes a backslash begins an escape, and this one is unknown; write the text in single quotes, or \\ for a backslash`
	case strings.HasPrefix(reason, "unknown anchor "):
		return "a value that begins with * refers to an anchor, and there is none of this name; quote the value"
	case reason == "did not find expected alphabetic or numeric character":
		return "a value that begins with * or & is an anchor of YAML; quote the value"
	case reason == "found character that cannot start any token":
		return "a value cannot begin with this character; quote the value"
	case strings.HasPrefix(reason, "found a tab character"):
		return "indent with spaces; YAML does not allow tabs there"
	case reason == "did not find expected comment or line break":
		return "after | or > the text begins on the next line"
	}
	return "this is not YAML: " + reason
}
