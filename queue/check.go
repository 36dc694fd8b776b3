package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns the reason why a task is invalid, or nil. It checks only the size of Message;
// whether Message is JSON is checked when the task is claimed.
func (t Task) Check() error {
	if t.ID == "" {
		return errors.New("the task has no id")
	}
	for _, text := range []struct{ name, text string }{{"id", t.ID}, {"agent", t.Agent}, {"repository", t.Repo}, {"dedup key", t.Dedup}, {"delivery", t.Delivery}} {
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
	case t.Priority < -maxPriority || t.Priority > maxPriority:
		return fmt.Errorf("the task's priority is %d; want %d to %d", t.Priority, -maxPriority, maxPriority)
	case t.HourlyLimit < 0:
		return fmt.Errorf("the task's hourly limit is %d; want 0 or more", t.HourlyLimit)
	case t.Wait < 0:
		return fmt.Errorf("the task's wait is %s; want 0 or more", t.Wait)
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

// CheckSize returns an error if data is larger than MaxMessage. The error names the data as what.
func CheckSize(what string, data []byte) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("the %s has %d bytes, more than %d", what, len(data), MaxMessage)
	}
	return nil
}

// IsText reports whether s can be stored and found again unchanged: it is UTF-8 without a NUL, and
// has at most MaxText bytes. Every stored id and agent is such a text.
func IsText(s string) bool {
	return len(s) <= MaxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// CleanText converts s to a text that IsText accepts: it replaces each run of invalid bytes and
// each NUL by U+FFFD, and cuts the text to MaxText bytes. It is applied to reasons, names and log
// entries. A text that IsText accepts stays unchanged. CleanText reads only the first maxCleaned
// bytes.
func CleanText(s string) string {
	if IsText(s) {
		return s
	}
	s = s[:min(len(s), maxCleaned)]
	clean := make([]byte, 0, min(len(s)+utf8.UTFMax, MaxText))
	for replaced := false; s != ""; {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		invalid := r == utf8.RuneError && n == 1
		if invalid && replaced {
			continue
		}
		if replaced = invalid; r == 0 {
			r = utf8.RuneError
		}
		if len(clean)+utf8.RuneLen(r) > MaxText {
			break
		}
		clean = utf8.AppendRune(clean, r)
	}
	return string(clean)
}

// maxCleaned limits the cost of CleanText for a long run of invalid bytes.
const maxCleaned = 100 * MaxText

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

// Joins returns the texts that the task with this id has after t is joined to it. ok is false if
// the two tasks must not be joined. See [Task.Join].
func (t Task) Joins(id string, old Body) (joined Body, ok bool) {
	joined = Body{Message: renamed(t.Message, t.ID, id), Origin: t.Origin}
	if t.Join == nil {
		return joined, true
	}
	if joined, ok = t.Join(old, joined); !ok || CheckSize("message", joined.Message) != nil || CheckSize("origin", joined.Origin) != nil {
		return Body{}, false
	}
	return joined, true
}

// renamed returns a message in which the id from is replaced by the id to. A task that is joined to
// another one needs this, because its own id will not exist.
func renamed(message []byte, from, to string) []byte {
	return bytes.Replace(message, []byte(`"`+from+`"`), []byte(`"`+to+`"`), 1)
}
