package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
)

// An Object is a body that is a JSON object.
type Object struct {
	Data   []byte
	Fields map[string]json.RawMessage // of the object, not decoded further
}

// ReadObject reads a body of at most limit bytes as a JSON object. It refuses other content types,
// because browsers let other sites send those without permission. Errors are of type
// *response.Error, with the published server's messages.
func ReadObject(w http.ResponseWriter, r *http.Request, limit int64) (Object, error) {
	return required(readObject(w, r, limit, msgNotObject))
}

// ReadOperatorObject is [ReadObject] for people: its message about another content type names the header.
func ReadOperatorObject(w http.ResponseWriter, r *http.Request, limit int64) (Object, error) {
	return required(ReadOptionalObject(w, r, limit))
}

// required refuses an empty body.
func required(o Object, err error) (Object, error) {
	if err == nil && len(o.Data) == 0 {
		err = invalid(protocol.CodeMissing, msgMissing, nil, "body")
	}
	return o, err
}

// ReadOptionalObject is [ReadObject] for a body that may be empty. For an empty body it returns an
// Object without data. It must read the body to know whether it is empty, because some clients
// announce an unknown length and send nothing. Its message about another content type names the header.
func ReadOptionalObject(w http.ResponseWriter, r *http.Request, limit int64) (Object, error) {
	return readObject(w, r, limit, msgNotObject+": want the header Content-Type: application/json")
}

// readObject reads a body, which may be empty. notJSONType is the message about another content type.
func readObject(w http.ResponseWriter, r *http.Request, limit int64, notJSONType string) (Object, error) {
	data, err := Read(w, r, limit)
	if err != nil || len(data) == 0 {
		return Object{}, err
	}
	if !isJSON(r.Header["Content-Type"]) {
		text, _ := protocol.Encode(strings.ToValidUTF8(string(data), "\uFFFD"))
		return Object{}, invalid(codeNotObject, notJSONType, text, "body")
	}
	if protocol.TooManyValues(data) {
		msg := fmt.Sprintf("Input should have at most %d values", protocol.MaxDecisionValues)
		return Object{}, invalid(protocol.CodeTooLong, msg, nil, "body")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // Python's decoder accepts a byte order mark
	var syntax *json.SyntaxError
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(data, &fields); {
	case !utf8.Valid(data):
		return Object{}, notJSON(0, "it is not UTF-8")
	case errors.As(err, &syntax):
		return Object{}, notJSON(syntax.Offset, syntax.Error())
	case err != nil || fields == nil:
		return Object{}, notObject(data)
	}
	return Object{data, fields}, nil
}

func notJSON(offset int64, why string) error {
	return Invalid(Problem{
		Type: protocol.CodeJSON, Loc: []any{"body", offset}, Msg: "JSON decode error",
		Input: json.RawMessage("{}"), Ctx: map[string]string{"error": why},
	})
}

func notObject(input []byte) error {
	return invalid(codeNotObject, msgNotObject, input, "body")
}

// isJSON reports whether the Content-Type is that of JSON.
func isJSON(header []string) bool {
	if len(header) == 0 {
		return false
	}
	t, _, _ := strings.Cut(header[0], ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == "application/json" || strings.HasPrefix(t, "application/") && strings.HasSuffix(t, "+json")
}

// Text returns the string at a required key.
func (o Object) Text(key string) (string, error) {
	value, ok := o.Fields[key]
	if !ok {
		return "", invalid(protocol.CodeMissing, msgMissing, o.Data, "body", key)
	}
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return "", invalid(protocol.CodeString, "Input should be a valid string", value, "body", key)
	}
	return s, nil
}

// PositiveInt returns the integer of an optional key, at least 1. It returns 0 if the key is absent
// or null.
func (o Object) PositiveInt(key string) (int, error) {
	value, ok := o.Fields[key]
	if !ok || string(value) == "null" {
		return 0, nil
	}
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 1 {
		return 0, invalid(codeInt, "Input should be a valid integer, 1 or more", value, "body", key)
	}
	return n, nil
}
