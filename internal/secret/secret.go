// Package secret holds text that must not be shown, and takes it out of the words of others.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// A Text is text that no log, error or JSON may show: every way of printing it gives a
// stand-in. Convert it with string(t) where the text itself is needed.
type Text string

// Long is the length in bytes from which a secret cannot be guessed at any rate: 16 random bytes
// in hexadecimal have it.
const Long = 32

const hidden = "[secret]"

// String returns a stand-in, or nothing for an empty text.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return hidden
}

// Format writes the result of String for every verb: an unsuitable one would print the text
// itself.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue returns the same as String.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns the same as String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
