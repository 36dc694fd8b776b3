package history

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
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
	// LoginSetting names the setting of Login for people; empty: the action's input bot-login.
	LoginSetting string
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

// Find returns the posted comment that corresponds to c. Markers in people's comments are forged,
// unless they contain the secret of this run, which only GitHub and we know. A comment of any app
// counts, as in [Identity.Latest].
func (id Identity) Find(list []triage.Comment, c effect.Comment, command string) (triage.Comment, bool) {
	for _, posted := range list {
		m, ok := ParseMarker(posted.Body)
		same := ok && m.Task == id.Task && m.Scope == id.Scope && m.Key == c.Key && m.By == command && m.Comment == c.Nth
		if same && (text.SameLogin(posted.Author, id.Login) || ByApp(posted.AuthorType, posted.Body) || id.Nonce != "" && m.Run == id.Nonce) {
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

// Latest returns our newest comment with a key; ok is false if there is none. If Login posted none,
// a comment of any app that begins with the marker counts, because Login may be wrong, and outside
// users are no apps. In that case others has the further comments of apps with the key.
func (id Identity) Latest(list []triage.Comment, key string) (newest triage.Comment, others []triage.Comment, ok bool) {
	var foreign []triage.Comment
	for _, c := range list {
		switch m, marked := ParseMarker(c.Body); {
		case !marked || m.Key != key:
		case text.SameLogin(c.Author, id.Login):
			newest, ok = c, true
		case ByApp(c.AuthorType, c.Body):
			foreign = append(foreign, c)
		}
	}
	if last := len(foreign) - 1; !ok && last >= 0 {
		return foreign[last], foreign[:last], true
	}
	return newest, nil, ok
}

// ByApp reports whether an app posted a text that begins with our marker. A person cannot: GitHub
// sets the type of an account. Apps that quote a comment put other characters before it.
func ByApp(accountType, body string) bool {
	return accountType == "Bot" && strings.HasPrefix(body, markerStart+" ")
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
	if c.Author == "" || text.SameLogin(c.Author, id.Login) {
		return ""
	}
	return fmt.Sprintf("comments are posted as %[1]s, but %[3]s is %[2]s: set %[4]s to %[1]q, or later runs may not recognise our work",
		text.Quote(c.Author), text.Quote(id.Login), id.setting("bot-login"), id.setting("the input bot-login"))
}

// Doubled returns the error for several comments of apps with one key. There should be a single
// comment with the key, posted by one account.
func (id Identity) Doubled(author, what, key string, n int) error {
	return fmt.Errorf("%d comments of apps have `%s: %s`, and %s is %s: set %s to %q, and delete all but one of the comments",
		n, what, key, id.setting("bot-login"), text.Quote(id.Login), id.setting("the input bot-login"), text.Quote(author))
}

// setting returns the name of the setting with the login; input is its name in the action.
func (id Identity) setting(input string) string { return cmp.Or(id.LoginSetting, input) }
