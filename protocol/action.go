package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// An ActionItem is one action of a decision: its type and its parameters. The zero value has an
// empty type, which no executor knows. Items may be copied, and read by several goroutines.
type ActionItem struct {
	Type string
	// fields are the parameters without "type", as they were received.
	fields map[string]json.RawMessage
	// raw is the whole object that the item was decoded from, compacted. It is valid only while
	// Type equals rawType.
	raw     json.RawMessage
	rawType string
}

// NewAction returns an action of the given type. The values of params must be
// encodable as JSON; a key "type" is ignored.
func NewAction(typ string, params map[string]any) (ActionItem, error) {
	a := ActionItem{Type: typ, fields: make(map[string]json.RawMessage, len(params))}
	for k, v := range params {
		if k == "type" {
			continue
		}
		b, err := Encode(v)
		if err != nil {
			return ActionItem{}, fmt.Errorf("encode parameter %s of action %s: %w", k, typ, err)
		}
		a.fields[k] = b
	}
	return a, nil
}

// Param returns the raw JSON of a parameter, and whether the parameter exists. The caller must not
// change the bytes.
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

// Text returns a string parameter. ok is false if the parameter is absent or null. It is an error
// if the parameter has another type.
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
// a list of one. ok and err are as in [ActionItem.Text].
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

// Int returns a whole-number parameter; 7, 7.0 and 7e0 are the same number. ok and err are as for
// [ActionItem.Text]. A number that does not fit into an int64 is an error.
func (a ActionItem) Int(name string) (n int64, ok bool, err error) {
	raw, ok := a.present(name)
	if !ok {
		return 0, false, nil
	}
	if n, ok := whole(raw); ok {
		return n, true, nil
	}
	got := kind(raw)
	if got == "a number" {
		got = cut(string(raw))
	}
	return 0, true, fmt.Errorf("%s: want a whole number, got %s", name, got)
}

// whole parses a JSON number without a fraction, in any notation: 7, 7.0 or 7e0.
func whole(raw json.RawMessage) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	if kind(raw) != "a number" {
		return 0, false
	}
	// Above 2^53 a float64 cannot represent every whole number.
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func (a ActionItem) present(name string) (json.RawMessage, bool) {
	raw, ok := a.fields[name]
	raw = bytes.TrimSpace(raw)
	if !ok || len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	return raw, true
}

// MarshalJSON encodes the item. A decoded item keeps its original JSON, compacted. If the item was
// made by [NewAction], or its Type was changed, "type" comes first, then the sorted parameters.
// HTML characters are encoded as in [Encode].
func (a ActionItem) MarshalJSON() ([]byte, error) {
	if a.raw != nil && a.Type == a.rawType {
		return slices.Clone(a.raw), nil
	}
	typ, err := Encode(a.Type)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(`{"type":`)
	b.Write(typ)
	for _, name := range a.ParamNames() {
		key, err := Encode(name)
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

// UnmarshalJSON decodes an object with a string "type", and keeps every other field. For any other
// value, including null, the error is a [ValidationError]. The last value of a repeated key is
// used, but the item is encoded again with all of them.
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
