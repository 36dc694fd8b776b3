package llm

import (
	"fmt"
	"io"
	"log/slog"
)

// A Key is an API key: text that no log, error or JSON may show. Every way of printing
// it gives a placeholder. Convert it with string(k) where the text itself is needed.
type Key string

const hidden = "[secret]"

// String returns a placeholder, or nothing for an empty key.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return hidden
}

// Format writes what String returns, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue returns what String does.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText returns what String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
