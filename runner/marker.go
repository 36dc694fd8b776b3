package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/triage"
)

// markerStart begins the hidden last line of everything that we post.
const markerStart = "<!-- foreman:v1"

// marker returns the hidden line that says which comment of which task a comment is.
// Comments are counted, and not named by the index of their action, so that a task
// which is decided again, and then puts its actions in another order, finds them.
func (x *execution) marker(s *Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s task=%s comment=%d", markerStart, x.Task, s.nth)
	for _, field := range []struct{ name, value string }{{"scope", x.Scope}, {"key", s.key}, {"once", s.once}, {"by", s.Source.Command}, {"run", x.Nonce}} {
		if field.value != "" {
			fmt.Fprintf(&b, " %s=%s", field.name, field.value)
		}
	}
	b.WriteString(" -->")
	return b.String()
}

// A mark is what a marker says.
type mark struct{ task, comment, scope, key, once, by, run string }

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
		case "comment":
			m.comment = value
		case "scope":
			m.scope = value
		case "key":
			m.key = value
		case "once":
			m.once = value
		case "by":
			m.by = value
		case "run":
			m.run = value
		}
	}
	return m, true
}

// is reports whether a comment is that of a step. Markers in other people's comments
// are forgeries, but for one that holds the secret of this run: only GitHub and we
// can know it yet.
func (x *execution) is(c triage.Comment, s *Step) bool {
	m, ok := markOf(c.Body)
	if !ok || m.task != x.Task || m.scope != x.Scope || m.key != s.key || m.by != s.Source.Command || m.comment != strconv.Itoa(s.nth) {
		return false
	}
	return isLogin(c.Author, x.Bot) || x.Nonce != "" && m.run == x.Nonce
}

func validKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	return strings.IndexFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}) < 0
}

// sticky returns the id of our newest comment with the key, or 0.
func (x *execution) sticky(ctx context.Context, key string) (int64, error) {
	all, err := x.Host.Comments(ctx, x.Ref, time.Time{})
	if err != nil {
		return 0, err
	}
	var id int64
	for _, c := range all {
		if m, ok := markOf(c.Body); ok && m.key == key && isLogin(c.Author, x.Bot) {
			id = c.ID
		}
	}
	return id, nil
}

// done looks for the comment of a step among those that are there.
func (x *execution) done(ctx context.Context, s *Step) (bool, error) {
	if x.tooMany != nil {
		return false, x.tooMany
	}
	if x.comments == nil {
		list, err := x.Host.Comments(ctx, x.Ref, x.Since)
		if errors.Is(err, triage.ErrTruncated) {
			x.tooMany = err
		}
		if err != nil {
			return false, err
		}
		x.comments = append([]triage.Comment{}, list...)
	}
	for _, c := range x.comments {
		if x.is(c, s) {
			x.posted(s, c)
			return true, nil
		}
	}
	return false, nil
}
