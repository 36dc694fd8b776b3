package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An ActionItem is one action that a decision asks for: its type and its
// parameters. The zero value has no type and is refused by every decoder.
type ActionItem struct {
	Type string
	// fields are the parameters other than "type", as they came.
	fields map[string]json.RawMessage
	// raw is the whole object, compacted, when the item was decoded.
	raw json.RawMessage
}

// NewAction returns an action of the given type. The values of params must be
// encodable as JSON; a key "type" is ignored.
func NewAction(typ string, params map[string]any) (ActionItem, error) {
	a := ActionItem{Type: typ, fields: make(map[string]json.RawMessage, len(params))}
	for k, v := range params {
		if k == "type" {
			continue
		}
		b, err := marshal(v)
		if err != nil {
			return ActionItem{}, fmt.Errorf("encode parameter %s of action %s: %w", k, typ, err)
		}
		a.fields[k] = b
	}
	return a, nil
}

// Param returns the raw JSON of a parameter, and whether it is there.
func (a ActionItem) Param(name string) (json.RawMessage, bool) {
	v, ok := a.fields[name]
	return v, ok
}

// ParamNames returns the names of the parameters, sorted.
func (a ActionItem) ParamNames() []string {
	names := make([]string, 0, len(a.fields))
	for k := range a.fields {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// Text returns a string parameter. ok is false when it is absent or null; an
// error says that it is there with another type.
func (a ActionItem) Text(name string) (s string, ok bool, err error) {
	raw, ok := a.present(name)
	if !ok {
		return "", false, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", true, fmt.Errorf("%s: want a string, got %s", name, kind(raw))
	}
	return s, true, nil
}

// Texts returns a parameter that is a list of strings; a single string counts as
// a list of one. ok and err are as for [ActionItem.Text].
func (a ActionItem) Texts(name string) (list []string, ok bool, err error) {
	raw, ok := a.present(name)
	if !ok {
		return nil, false, nil
	}
	if raw[0] == '"' {
		s, _, err := a.Text(name)
		return []string{s}, true, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, true, fmt.Errorf("%s: want a list of strings, got %s", name, kind(raw))
	}
	for i, item := range items {
		var s string
		if kind(item) != "a string" || json.Unmarshal(item, &s) != nil {
			return nil, true, fmt.Errorf("%s[%d]: want a string, got %s", name, i, kind(item))
		}
		list = append(list, s)
	}
	return list, true, nil
}

// Int returns a whole-number parameter. ok and err are as for [ActionItem.Text].
func (a ActionItem) Int(name string) (n int64, ok bool, err error) {
	raw, ok := a.present(name)
	if !ok {
		return 0, false, nil
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return 0, true, fmt.Errorf("%s: want a whole number, got %s", name, kind(raw))
	}
	return n, true, nil
}

func (a ActionItem) present(name string) (json.RawMessage, bool) {
	raw, ok := a.fields[name]
	raw = bytes.TrimSpace(raw)
	if !ok || len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	return raw, true
}

// MarshalJSON encodes the item. A decoded item is encoded as it came, compacted;
// otherwise "type" comes first and the parameters follow in sorted order.
func (a ActionItem) MarshalJSON() ([]byte, error) {
	if a.raw != nil {
		return a.raw, nil
	}
	typ, err := marshal(a.Type)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(`{"type":`)
	b.Write(typ)
	for _, name := range a.ParamNames() {
		key, err := marshal(name)
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(key)
		b.WriteByte(':')
		b.Write(a.fields[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON decodes an object with a string "type"; every other field is kept.
func (a *ActionItem) UnmarshalJSON(data []byte) error {
	d := decoder{}
	item := d.action(path{}, data)
	if err := d.err("action"); err != nil {
		return err
	}
	*a = item
	return nil
}

// String returns the item as JSON, for logs and messages.
func (a ActionItem) String() string {
	b, err := a.MarshalJSON()
	if err != nil {
		return a.Type
	}
	return string(b)
}

// kind names the JSON type of a value for messages.
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

// errNotObject is what the decoders say of a value that is no JSON object.
var errNotObject = errors.New("not a JSON object")

// object decodes a JSON object with case-sensitive keys; of a repeated key the
// last value counts, as for Python's decoder, which published agents use.
func object(data []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
			return nil, err
		}
		return nil, errNotObject
	}
	if m == nil {
		return nil, errNotObject
	}
	return m, nil
}

func compact(data []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil
	}
	return b.Bytes()
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
