package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind returns the JSON type of a value, for error messages.
func kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// errNotObject is the error for a value that is not a JSON object.
var errNotObject = errors.New("not a JSON object")

// object decodes a JSON object with case-sensitive keys. The last value of a repeated key is used,
// as in Python's decoder, which published agents use.
func object(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("byte %d: %w", syntax.Offset, err)
		}
		return nil, errNotObject
	}
	if m == nil {
		return nil, errNotObject
	}
	return m, nil
}

// MaxDecisionValues is the maximum number of values in a decision, at any depth. A value of two
// bytes in a message takes about a hundred times that memory once it is decoded.
const MaxDecisionValues = 20_000

// TooManyValues reports whether JSON contains more than [MaxDecisionValues] values. It does not
// decode the JSON, which may be malformed.
func TooManyValues(data []byte) bool {
	if len(data) <= MaxDecisionValues {
		return false
	}
	n, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == ',' || c == '[' || c == '{'):
			if n++; n > MaxDecisionValues {
				return true
			}
		}
	}
	return false
}

func compact(data []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil
	}
	return b.Bytes()
}

// cut shortens a value for an error message.
func cut(s string) string {
	const most = 60
	for i := range s {
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}

func quoteList[T ~string](list []T) string {
	var b strings.Builder
	for i, s := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s'", string(s))
	}
	return b.String()
}
