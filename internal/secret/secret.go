// Package secret contains a type for text that must not be shown, and removes secrets from other
// text.
//
// Errors may contain text of other services. It is limited and redacted where it arrives: from GitHub
// in internal/github/rest, from agents in package agent, from the services of Actions in
// internal/actions/results, from models in internal/llm, from containers in internal/server/managed,
// and from configuration files in internal/yamlfile.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// A Text is text that must not appear in logs, errors or JSON: every way of printing it prints a
// placeholder. To use the text itself, convert it with string(t).
type Text string

// Long is the length in bytes from which guessing a secret is impossible at any rate. 16 random
// bytes in hexadecimal have this length.
const Long = 32

const hidden = "[secret]"

// String returns a placeholder, or an empty string for an empty text.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return hidden
}

// Format writes the result of String for every verb, because fmt would print the text itself for a
// verb that does not use String.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue returns the same as String.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns the same as String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
