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

// An Identity contains everything that identifies our comments on an issue.
type Identity struct {
	Ref triage.Ref
	// Task is the id of the task. The comments of one task are numbered, and each number is posted
	// once.
	Task string
	// Scope distinguishes executors of the same task, such as two steps of one workflow job. It
	// contains letters, digits, '.', '_' and '-', and may be empty. The part after the last '.'
	// distinguishes executors with the same role, such as the jobs of a matrix.
	Scope string
	// Nonce is a random secret of this run, of letters and digits. A comment with it is ours,
	// whatever login the token posts under. Empty: only comments by Login are ours.
	Nonce string
	// Earlier are the ids of earlier decisions on the same event.
	Earlier []string
	// Login is the account that posts our comments; empty: unknown, and no comment is recognized by
	// its author.
	Login string
}

// Marker returns the marker of a comment. If the comment answers a command, command is its name,
// else "".
func (id Identity) Marker(c effect.Comment, command string) Marker {
	return Marker{Task: id.Task, Comment: c.Nth, Scope: id.Scope, Key: c.Key, Once: c.Once, By: command, Run: id.Nonce}
}

// Mine reports whether a marker belongs to a comment of this executor on this task.
func (id Identity) Mine(m Marker) bool { return m.Task == id.Task && m.Scope == id.Scope }

// Beside reports whether a marker belongs to an executor with another role for the same task, such
// as another step. Jobs of the same matrix have the same role.
func (id Identity) Beside(m Marker) bool { return m.Task == id.Task && role(m.Scope) != role(id.Scope) }

// role returns a scope without the part after its last '.'.
func role(scope string) string {
	if i := strings.LastIndexByte(scope, '.'); i >= 0 {
		return scope[:i]
	}
	return scope
}

// Find returns the posted comment that corresponds to c. Markers in other people's comments are
// forged, unless they contain the secret of this run, which only GitHub and we know.
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

// Repeats reports whether a posted comment has the same text as body, and belongs to an earlier
// decision on the same event.
func (id Identity) Repeats(m Marker, posted, body string) bool {
	return slices.Contains(id.Earlier, m.Task) && m.Scope == id.Scope && sameText(WithoutMarker(posted), body)
}

// sameText reports whether two texts are equal, ignoring the kind of line breaks and surrounding
// space.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// Latest returns the id of our newest comment with a key, or 0 if there is none.
func (id Identity) Latest(list []triage.Comment, key string) int64 {
	var newest int64
	for _, c := range list {
		if m, ok := ParseMarker(c.Body); ok && m.Key == key && SameLogin(c.Author, id.Login) {
			newest = c.ID
		}
	}
	return newest
}

// StickyOf returns the id of the comment that a source last posted or updated with update_comment.
// It takes the id from the URL in the record; 0: the record has none.
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

// ForeignAuthor returns a warning if our comment was posted by another account than expected, else
// "".
func (id Identity) ForeignAuthor(c triage.Comment) string {
	if c.Author == "" || SameLogin(c.Author, id.Login) {
		return ""
	}
	return fmt.Sprintf("comments are posted as %s, but the bot's login is %s: set bot-login, or a re-run may not recognise them",
		c.Author, id.Login)
}
