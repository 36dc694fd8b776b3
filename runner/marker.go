package runner

import (
	"context"
	"fmt"
	"strings"
)

// markerStart begins the hidden last line of everything that we post.
const markerStart = "<!-- foreman:v1"

// marker returns the hidden line that says which action of which task a comment is.
func (x *execution) marker(s *Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s task=%s action=%d", markerStart, x.task, s.Index)
	if x.scope != "" {
		fmt.Fprintf(&b, " scope=%s", x.scope)
	}
	if s.key != "" {
		fmt.Fprintf(&b, " key=%s", s.key)
	}
	b.WriteString(" -->")
	return b.String()
}

// A mark is what a marker says.
type mark struct{ task, action, scope, key string }

// markOf reads the marker in the last line of a comment's body.
func markOf(body string) (mark, bool) {
	body = strings.TrimSpace(body)
	line := body[strings.LastIndexByte(body, '\n')+1:]
	rest, ok := strings.CutPrefix(line, markerStart+" ")
	if !ok {
		return mark{}, false
	}
	rest, ok = strings.CutSuffix(rest, " -->")
	if !ok {
		return mark{}, false
	}
	var m mark
	for field := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "task":
			m.task = value
		case "action":
			m.action = value
		case "scope":
			m.scope = value
		case "key":
			m.key = value
		}
	}
	return m, true
}

// is reports whether the mark is that of a step of this execution.
func (m mark) is(x *execution, s *Step) bool {
	return m.task == x.task && m.scope == x.scope && m.action == fmt.Sprint(s.Index)
}

func validKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	return strings.IndexFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

// ours returns the comments of our bot that carry a marker, oldest first. Markers
// in other people's comments are forgeries.
func (x *execution) ours(ctx context.Context) ([]Comment, error) {
	all, err := x.host.Comments(ctx, x.ref, x.since)
	if err != nil {
		return nil, err
	}
	var own []Comment
	for _, c := range all {
		if _, ok := markOf(c.Body); ok && strings.EqualFold(c.Author, x.bot) {
			own = append(own, c)
		}
	}
	return own, nil
}

// sticky returns the id of our newest comment with the key, or 0.
func (x *execution) sticky(ctx context.Context, key string) (int64, error) {
	all, err := x.host.Comments(ctx, x.ref, x.ever)
	if err != nil {
		return 0, err
	}
	var id int64
	for _, c := range all {
		if m, ok := markOf(c.Body); ok && m.key == key && strings.EqualFold(c.Author, x.bot) {
			id = c.ID
		}
	}
	return id, nil
}

// done looks for the comment of a step among those that are there.
func (x *execution) done(ctx context.Context, s *Step) (bool, error) {
	own, err := x.ours(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range own {
		if m, _ := markOf(c.Body); m.is(x, s) {
			x.posted(s, c)
			return true, nil
		}
	}
	return false, nil
}
