package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns the reason why a task is invalid, or nil. Of Message it checks the size only: a
// message that is not JSON is found when it is claimed.
func (t Task) Check() error {
	if t.ID == "" {
		return errors.New("the task has no id")
	}
	for _, text := range []struct{ name, text string }{{"id", t.ID}, {"agent", t.Agent}, {"repository", t.Repo}, {"dedup key", t.Dedup}} {
		if !IsText(text.text) {
			return fmt.Errorf("the task's %s is not a text of at most %d bytes", text.name, MaxText)
		}
	}
	if err := errors.Join(CheckSize("message", t.Message), CheckSize("origin", t.Origin)); err != nil {
		return err
	}
	switch {
	case t.Issue < 0:
		return fmt.Errorf("the task's issue is %d; want 0 or more", t.Issue)
	case t.Priority < -MaxPriority || t.Priority > MaxPriority:
		return fmt.Errorf("the task's priority is %d; it is at least %d and at most %d", t.Priority, -MaxPriority, MaxPriority)
	case t.HourlyLimit < 0:
		return fmt.Errorf("the task's hourly limit is %d; want 0 or more", t.HourlyLimit)
	case t.Wait < 0:
		return fmt.Errorf("the wait of the task is %s; want 0 or more", t.Wait)
	}
	return nil
}

// Check returns the reason why the options are invalid, or nil.
func (o ClaimOptions) Check() error {
	if o.Lease <= 0 {
		return fmt.Errorf("want a claim duration of more than 0, got %s", o.Lease)
	}
	return nil
}

// Check returns the reason why the options are invalid, or nil.
func (o DrainOptions) Check() error {
	if o.Lease <= 0 || o.Limit <= 0 {
		return fmt.Errorf("want a limit and a lease of more than 0, got %d and %s", o.Limit, o.Lease)
	}
	return nil
}

// CheckSize returns an error that names what, if data is larger than MaxMessage.
func CheckSize(what string, data []byte) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("the %s has %d bytes, more than %d", what, len(data), MaxMessage)
	}
	return nil
}

// IsText reports whether s can be stored and looked up unchanged: UTF-8 without a NUL, and at
// most MaxText bytes. Every stored id and agent is a text.
func IsText(s string) bool {
	return len(s) <= MaxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// CleanText converts s to a text for which IsText holds: invalid bytes are replaced, and the
// rest is cut off. Reasons, names and log entries go through it. It does not change a text
// for which IsText holds.
func CleanText(s string) string {
	if len(s) > 2*MaxText {
		s = s[:2*MaxText] // replacements are longer
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
	if len(s) <= MaxText {
		return s
	}
	end := MaxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Decodable reports whether a message is a JSON object, so that agents can decode it.
func Decodable(message []byte) bool {
	return json.Valid(message) && bytes.HasPrefix(bytes.TrimLeft(message, " \t\r\n"), []byte("{"))
}

// CheckDecision returns the reason why a decision cannot be stored, or nil. It checks the
// size only.
func CheckDecision(decision []byte) error {
	if len(decision) == 0 {
		return errors.New("the decision is empty")
	}
	return CheckSize("decision", decision)
}

// Joins returns the texts of the task with that id after t is joined to it. ok is false if
// the two do not fit together. See [Task.Join].
func (t Task) Joins(id string, old Body) (joined Body, ok bool) {
	joined = Body{Message: Renamed(t.Message, t.ID, id), Origin: t.Origin}
	if t.Join == nil {
		return joined, true
	}
	if joined, ok = t.Join(old, joined); !ok || CheckSize("message", joined.Message) != nil || CheckSize("origin", joined.Origin) != nil {
		return Body{}, false
	}
	return joined, true
}

// Renamed returns a message with the id of a task replaced by that of the task to which it is
// joined. Otherwise an agent would decide on a task that does not exist.
func Renamed(message []byte, from, to string) []byte {
	return bytes.Replace(message, []byte(`"`+from+`"`), []byte(`"`+to+`"`), 1)
}
