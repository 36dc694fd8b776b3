package history

import (
	"fmt"
	"strconv"
	"strings"
)

// markerStart is the beginning of the marker in every comment that we post.
const markerStart = "<!-- foreman:v1"

// A Marker is hidden in the first line of each comment that we post. There, no text in the body can
// make it visible or hide it from the parser, and it survives if the body is shortened. It
// identifies the task, and the comment within the task. The comments of a task are numbered
// independently of their actions. So a task that is decided again finds its comments even if the
// actions have another order.
type Marker struct {
	Task    string // id of the task
	Comment int    // number of earlier comments of the task with the same key
	Scope   string // see Identity.Scope; may be empty
	Key     string // key of a sticky comment; else empty
	Once    string // key of a comment that is posted once on the issue; else empty
	By      string // name of the command that the comment answers; else empty
	Run     string // secret of the run that posted the comment; may be empty
}

// String returns the marker as one line of text.
func (m Marker) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s task=%s comment=%d", markerStart, m.Task, m.Comment)
	for _, field := range []struct{ name, value string }{{"scope", m.Scope}, {"key", m.Key}, {"once", m.Once}, {"by", m.By}, {"run", m.Run}} {
		if field.value != "" {
			fmt.Fprintf(&b, " %s=%s", field.name, field.value)
		}
	}
	b.WriteString(" -->")
	return b.String()
}

// Mark returns a body with the marker as its first line.
func (m Marker) Mark(body string) string { return m.String() + "\n\n" + body }

// WithoutMarker returns a body without its first line, if that line is a marker.
func WithoutMarker(body string) string {
	first, rest, _ := strings.Cut(body, "\n")
	if _, ok := ParseMarker(first); ok && strings.HasPrefix(first, markerStart) {
		return rest
	}
	return body
}

// ParseMarker parses the first complete marker in the body of a comment. The marker may be on any
// line: people may write above it, and older comments have it as their last line. A body that we
// post contains only one. The last value of a repeated field is used. Comment is -1 if the marker
// has no valid number.
func ParseMarker(body string) (Marker, bool) {
	for {
		_, after, ok := strings.Cut(body, markerStart+" ")
		if !ok {
			return Marker{}, false
		}
		body = after
		if m, ok := parseFields(after); ok {
			return m, true
		}
	}
}

// parseFields parses the fields of a marker up to " -->" on the same line.
func parseFields(s string) (Marker, bool) {
	line, _, _ := strings.Cut(s, "\n")
	rest, _, ok := strings.Cut(line, " -->")
	if !ok || strings.Contains(rest, "<!--") {
		return Marker{}, false
	}
	m := Marker{Comment: -1}
	for field := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "task":
			m.Task = value
		case "comment":
			m.Comment = -1
			if n, err := strconv.Atoi(value); err == nil && strconv.Itoa(n) == value {
				m.Comment = n
			}
		case "scope":
			m.Scope = value
		case "key":
			m.Key = value
		case "once":
			m.Once = value
		case "by":
			m.By = value
		case "run":
			m.Run = value
		}
	}
	return m, true
}
