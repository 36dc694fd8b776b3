package triage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// A placedError is an error with its position in the payload.
type placedError struct {
	line, column int
	err          error
}

func (e *placedError) Error() string { return fmt.Sprintf("%d:%d: %v", e.line, e.column, e.err) }

// decodeAt is json.Unmarshal, with positions in its errors.
func decodeAt(data []byte, out any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &placedError{1, 1, errors.New("the event payload is empty")}
	}
	if err := json.Unmarshal(data, out); err != nil {
		return placed(data, 0, fmt.Errorf("decode event payload: %w", err))
	}
	return nil
}

// placed adds a line and a column of data to an error. start is the offset at which the decoder
// began. A JSON error gives its own position, relative to start; any other error is placed at
// start.
func placed(data []byte, start int64, err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := position(data, start+s.Offset)
		return &placedError{line, column, err}
	}
	t, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		line, column := position(data, start+1)
		return &placedError{line, column, err}
	}
	what := "it"
	if t.Field != "" {
		what = t.Field
	}
	line, column := position(data, start+t.Offset)
	return &placedError{line, column, fmt.Errorf("decode event payload: %s: want %s, got %s", what, jsonType(t.Type), t.Value)}
}

// jsonType returns the JSON type from which a value of a Go type is decoded.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

// position converts the 1-based offset of a JSON error to a line and a column.
func position(data []byte, offset int64) (line, column int) {
	offset = min(max(offset-1, 0), int64(len(data)))
	before := data[:offset]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// valueAt returns the offset at which the value of a top-level key begins, or 0 if there is none.
// The last value of a repeated key is used, as in the decoder.
func valueAt(data []byte, key string) int64 {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return 0
	}
	at := int64(0)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return at
		}
		start := dec.InputOffset()
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return at
		}
		if name == key {
			at = start + int64(bytes.IndexFunc(data[start:], func(r rune) bool { return !strings.ContainsRune(": \t\r\n", r) }))
		}
	}
	return at
}
