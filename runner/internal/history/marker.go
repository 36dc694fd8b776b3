package history

import (
	"fmt"
	"strconv"
	"strings"
)

// markerStart begins the marker of every comment that we post.
const markerStart = "<!-- foreman:v1"

// A Marker is hidden in a comment that we post, as its first line: nothing in the body can show
// or swallow it there, and a body that is cut keeps it. It names the task, and the comment
// within the task. The comments of a task are counted, and not named by the index of their
// action, so that a task that is decided anew, with its actions in another order, finds them.
type Marker struct {
	Task    string // id
	Comment int    // number among the comments of the task with the same key
	Scope   string // see Identity.Scope; may be empty
	Key     string // of a comment that is kept up to date; else empty
	Once    string // of a comment that is posted once on the issue; else empty
	By      string // name of the command that it answers; else empty
	Run     string // the secret of the run that posted it; may be empty
}

// String returns the line.
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

// WithoutMarker returns a body without its first line if that is a marker.
func WithoutMarker(body string) string {
	first, rest, _ := strings.Cut(body, "\n")
	if _, ok := ParseMarker(first); ok && strings.HasPrefix(first, markerStart) {
		return rest
	}
	return body
}

// ParseMarker reads the first whole marker of a comment's body. People who may edit our
// comments write above or below it, and older comments have it as their last line, so it may
// stand anywhere; no body that we post holds another one. Of a repeated field the last value counts. Comment is -1 where the marker has no
// number.
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

// parseFields reads the fields of a marker, up to its end on the same line.
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
