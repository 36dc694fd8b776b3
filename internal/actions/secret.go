package actions

import "log/slog"

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

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
