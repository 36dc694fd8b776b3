package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns what is wrong with a task, or nil. Message is looked at only for its
// size: what is no JSON is found when it is claimed.
func (t Task) Check() error {
	if t.ID == "" {
		return errors.New("the task has no id")
	}
	for _, text := range []struct{ name, text string }{{"id", t.ID}, {"agent", t.Agent}, {"repository", t.Repo}, {"dedup key", t.Dedup}} {
		if !IsText(text.text) {
			return fmt.Errorf("the task's %s is no text of at most %d bytes", text.name, MaxText)
		}
	}
	if err := errors.Join(CheckSize("message", t.Message), CheckSize("origin", t.Origin)); err != nil {
		return err
	}
	switch {
	case t.Issue < 0:
		return fmt.Errorf("the task's issue is %d", t.Issue)
	case t.Priority < -MaxPriority || t.Priority > MaxPriority:
		return fmt.Errorf("the task's priority is %d; it is at least %d and at most %d", t.Priority, -MaxPriority, MaxPriority)
	case t.HourlyLimit < 0:
		return fmt.Errorf("the task's hourly limit is %d", t.HourlyLimit)
	case t.Wait < 0:
		return fmt.Errorf("the task is to wait %s", t.Wait)
	}
	return nil
}

// Check returns what is wrong with the options, or nil.
func (o ClaimOptions) Check() error {
	if o.Lease <= 0 {
		return fmt.Errorf("the claim is to last %s", o.Lease)
	}
	return nil
}

// Check returns what is wrong with the options, or nil.
func (o DrainOptions) Check() error {
	if o.Lease <= 0 || o.Limit <= 0 {
		return fmt.Errorf("%d decisions are to be leased for %s", o.Limit, o.Lease)
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

// IsText reports whether s can be kept, and looked up, as it is: UTF-8 without a NUL, and at most
// MaxText bytes. There is no task with an id that is none, and no agent at such an address.
func IsText(s string) bool {
	return len(s) <= MaxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// CleanText makes s something that can be kept: at most MaxText bytes of UTF-8 without a NUL. Reasons, names and the lines of a
// log go through it; it changes no text for which IsText holds.
func CleanText(s string) string {
	if len(s) > 2*MaxText {
		s = s[:2*MaxText] // what is replaced grows
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

// Decodable reports whether a message can be given to an agent: it is a JSON object.
func Decodable(message []byte) bool {
	return json.Valid(message) && bytes.HasPrefix(bytes.TrimLeft(message, " \t\r\n"), []byte("{"))
}

// CheckDecision returns what is wrong with a decision that is to be kept, or nil. It is looked
// at only for its size.
func CheckDecision(decision []byte) error {
	if len(decision) == 0 {
		return errors.New("the decision is empty")
	}
	return CheckSize("decision", decision)
}

// Joins returns what a task of the id takes over from one that coalesces with it: see
// [Task.Join].
func (t Task) Joins(id string, old Told) (joined Told, ok bool) {
	joined = Told{Message: Renamed(t.Message, t.ID, id), Origin: t.Origin}
	if t.Join == nil {
		return joined, true
	}
	if joined, ok = t.Join(old, joined); !ok || CheckSize("message", joined.Message) != nil || CheckSize("origin", joined.Origin) != nil {
		return Told{}, false
	}
	return joined, true
}

// Renamed returns the message of a task as that of another one which stands for it: it names
// its task by the other one's id, else an agent would decide on a task that there is not.
func Renamed(message []byte, from, to string) []byte {
	return bytes.Replace(message, []byte(`"`+from+`"`), []byte(`"`+to+`"`), 1)
}
