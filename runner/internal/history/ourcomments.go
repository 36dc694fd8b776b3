package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// An Identity contains the marks by which our comments on an issue are recognized.
type Identity struct {
	Ref triage.Ref
	// Task is the id of the task. The comments of one task are counted, and each number is
	// posted once.
	Task string
	// Scope keeps two executors of the same task apart, such as two steps of one workflow job:
	// letters, digits, '.', '_' and '-'. May be empty. The part behind the last '.'
	// distinguishes executors of the same role, such as the jobs of a matrix.
	Scope string
	// Nonce is a random secret of this run, of letters and digits. A comment with it is ours, under
	// whatever login the token posts. Empty: only comments by Login are ours.
	Nonce string
	// Earlier are the ids of earlier decisions on the same event.
	Earlier []string
	// Login is the account that our comments appear under; empty: none is known to be ours.
	Login string
}

// Marker returns the marker of a comment that answers a command, or with an empty command is not
// an answer.
func (id Identity) Marker(c effect.Comment, command string) Marker {
	return Marker{Task: id.Task, Comment: c.Nth, Scope: id.Scope, Key: c.Key, Once: c.Once, By: command, Run: id.Nonce}
}

// Mine reports whether a marker is that of a comment of this executor on this task.
func (id Identity) Mine(m Marker) bool { return m.Task == id.Task && m.Scope == id.Scope }

// Beside reports whether a marker is that of an executor that does something else with the
// same task, such as another step. Another job of the same matrix does the same.
func (id Identity) Beside(m Marker) bool { return m.Task == id.Task && role(m.Scope) != role(id.Scope) }

// role returns a scope without the part that distinguishes executors of the same role.
func role(scope string) string {
	if i := strings.LastIndexByte(scope, '.'); i >= 0 {
		return scope[:i]
	}
	return scope
}

// Find returns the one of the comments that is c, posted before. Markers in other people's
// comments are forged, except one with the secret of this run, which only GitHub and we can
// know.
func (id Identity) Find(list []triage.Comment, c effect.Comment, command string) (triage.Comment, bool) {
	for _, posted := range list {
		m, ok := ParseMarker(posted.Body)
		same := ok && m.Task == id.Task && m.Scope == id.Scope && m.Key == c.Key && m.By == command && m.Comment == c.Nth
		if same && (SameLogin(posted.Author, id.Login) || id.Nonce != "" && m.Run == id.Nonce) {
			return posted, true
		}
	}
	return triage.Comment{}, false
}

// Repeats reports whether an earlier decision on the same event posted a comment with this
// body.
func (id Identity) Repeats(m Marker, posted, body string) bool {
	return slices.Contains(id.Earlier, m.Task) && m.Scope == id.Scope && sameText(WithoutMarker(posted), body)
}

// sameText compares texts without regard to line ends and space around them.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// Latest returns the id of our newest comment with a key; 0: there is none.
func (id Identity) Latest(list []triage.Comment, key string) int64 {
	var newest int64
	for _, c := range list {
		if m, ok := ParseMarker(c.Body); ok && m.Key == key && SameLogin(c.Author, id.Login) {
			newest = c.ID
		}
	}
	return newest
}

// StickyOf returns the id of the comment that a source last kept up to date, by the address in
// a record; 0: the record has none.
func StickyOf(r memory.Record, source string) int64 {
	for _, t := range slices.Backward(r.Tasks) {
		for _, a := range slices.Backward(t.Actions) {
			if a.Type != protocol.ActionUpdateComment || a.Result != triage.Done || a.Rule != source {
				continue
			}
			_, number, _ := strings.Cut(a.URL, "#issuecomment-")
			if id, err := strconv.ParseInt(number, 10, 64); err == nil && id > 0 {
				return id
			}
		}
	}
	return 0
}

// ForeignAuthor returns a warning when a comment of ours was posted by another account than
// expected, and an empty text otherwise.
func (id Identity) ForeignAuthor(c triage.Comment) string {
	if c.Author == "" || SameLogin(c.Author, id.Login) {
		return ""
	}
	return fmt.Sprintf("comments are posted as %s, but the bot's login is %s: set bot-login, or a re-run may not recognise them",
		c.Author, id.Login)
}
