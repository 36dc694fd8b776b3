package actions

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is text that no log, error or JSON may show: every way of printing it
// gives a placeholder. Convert it with string(s) where the text itself is needed.
type Secret string

const hidden = "[secret]"

// String returns a placeholder, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns, whatever the verb: one that does not fit would
// print the text itself.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
