package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fields are a JSON object in one of the two spellings of protocol buffers: names like
// "signed_upload_url" or "signedUploadUrl", and whole numbers as numbers or as strings. Errors
// begin with the action of the request, and contain nothing of the object.
type Fields struct {
	what    string
	secrets []string
	values  map[string]json.RawMessage // by name in lower case, without "_"
}

// Fields parses the body of the response.
func (r Response) Fields() (Fields, error) { return r.fields.parse(r.Body) }

// parse parses data as an object; its errors name the same request.
func (f Fields) parse(data []byte) (Fields, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return Fields{}, f.error(errors.New("the answer is not a JSON object"))
	}
	f.values = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		key := fold(name)
		if _, twice := f.values[key]; twice {
			return Fields{}, f.error(errors.New("the answer contains a field twice"))
		}
		f.values[key] = raw[name]
	}
	return f, nil
}

func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (f Fields) error(err error) error { return fmt.Errorf("%s: %w", f.what, err) }

// read decodes a field into v; a field that is absent or null leaves v alone.
func (f Fields) read(name string, v any) error {
	raw, ok := f.values[fold(name)]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return f.error(fmt.Errorf("the answer's %s has the wrong type", name))
	}
	return nil
}

// OK returns the field "ok", and the field "message" if ok is false. The message is one short line
// without secrets, or empty.
func (f Fields) OK() (ok bool, message string, err error) {
	err = errors.Join(f.read("ok", &ok), f.read("message", &message))
	return ok, line(message, f.secrets), err
}

// Text returns a text field. The error reports a missing field.
func (f Fields) Text(name string) (string, error) {
	var s string
	if err := f.read(name, &s); err != nil {
		return "", err
	}
	if s == "" {
		return "", f.error(fmt.Errorf("the answer has no %s", name))
	}
	return s, nil
}

// Number returns a whole number above zero, quoted or not. The error reports a missing field.
func (f Fields) Number(name string) (int64, error) {
	raw := strings.TrimSpace(string(f.values[fold(name)]))
	if s, err := strconv.Unquote(raw); err == nil && strings.HasPrefix(raw, `"`) {
		raw = s
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 {
		return 0, f.error(fmt.Errorf("the answer has no %s", name))
	}
	return n, nil
}

// List returns a list of objects; one that is absent or null is empty.
func (f Fields) List(name string) ([]Fields, error) {
	var raw []json.RawMessage
	if err := f.read(name, &raw); err != nil {
		return nil, err
	}
	var out []Fields
	for _, data := range raw {
		item, err := f.parse(data)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
