package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
)

// A problem is one thing that is wrong with a request, in the form that published clients
// of the wire know.
type problem struct {
	Type  string            `json:"type"`
	Loc   []any             `json:"loc"`
	Msg   string            `json:"msg"`
	Input json.RawMessage   `json:"input"`
	Ctx   map[string]string `json:"ctx,omitempty"`
}

// The types of problems that are not in package protocol.
const (
	codeNotObject = "model_attributes_type"
	codeInt       = "int_type"
	codeValue     = "value_error"
)

// maxEcho is from which size on a body is too long to be looked through for the values
// that its problems are about.
const maxEcho = 64 << 10

func invalid(list ...problem) error {
	return &refusal{status: http.StatusUnprocessableEntity, detail: list}
}

// read returns the body, which lies in b: at most limit bytes.
func (c *call) read(b *bytes.Buffer, limit int64) ([]byte, error) {
	if c.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	if c.r.ContentLength > 0 {
		b.Grow(int(c.r.ContentLength) + bytes.MinRead) // at once, not in doublings
	}
	_, err := b.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge(limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &refusal{status: http.StatusRequestTimeout, detail: "the body did not come in time"}
	}
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, detail: "the body ended too early"}
	}
	return b.Bytes(), nil
}

func tooLarge(limit int64) error {
	return &refusal{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("the body has more than %d bytes", limit)}
}

// object reads the body as a JSON object. What is sent as something else than JSON is
// refused, for a page of another site could send it unasked.
func (c *call) object(b *bytes.Buffer, limit int64) (map[string]json.RawMessage, []byte, error) {
	data, err := c.read(b, limit)
	if err != nil {
		return nil, nil, err
	}
	if len(data) == 0 {
		return nil, nil, invalid(problem{Type: protocol.CodeMissing, Loc: []any{"body"}, Msg: "Field required", Input: raw(nil)})
	}
	if !isJSON(c.r.Header["Content-Type"]) {
		text, _ := protocol.Encode(strings.ToValidUTF8(string(data), "\uFFFD"))
		return nil, nil, invalid(notObject(text))
	}
	if protocol.TooManyValues(data) {
		return nil, nil, invalid(problem{
			Type: protocol.CodeTooLong, Loc: []any{"body"}, Input: raw(nil),
			Msg: fmt.Sprintf("Input should have at most %d values", protocol.MaxDecisionValues),
		})
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // Python's decoder takes it too
	fields, err := decode(data)
	return fields, data, err
}

func decode(data []byte) (map[string]json.RawMessage, error) {
	var syntax *json.SyntaxError
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(data, &fields); {
	case !utf8.Valid(data):
		return nil, invalid(notJSON(0, "it is not UTF-8"))
	case errors.As(err, &syntax):
		return nil, invalid(notJSON(syntax.Offset, syntax.Error()))
	case err != nil || fields == nil:
		return nil, invalid(notObject(data))
	}
	return fields, nil
}

func notJSON(at int64, why string) problem {
	return problem{
		Type: protocol.CodeJSON, Loc: []any{"body", at}, Msg: "JSON decode error",
		Input: json.RawMessage("{}"), Ctx: map[string]string{"error": why},
	}
}

func notObject(input []byte) problem {
	return problem{Type: codeNotObject, Loc: []any{"body"}, Msg: "Input should be a valid dictionary or object to extract fields from", Input: raw(input)}
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

// text returns the string at a key, which must be there.
func text(fields map[string]json.RawMessage, key string, body []byte) (string, error) {
	value, ok := fields[key]
	if !ok {
		return "", invalid(problem{Type: protocol.CodeMissing, Loc: []any{"body", key}, Msg: "Field required", Input: raw(body)})
	}
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return "", invalid(problem{Type: protocol.CodeString, Loc: []any{"body", key}, Msg: "Input should be a valid string", Input: raw(value)})
	}
	return s, nil
}

// attempt returns which claim the caller says that it has; 0: it does not say.
func attempt(fields map[string]json.RawMessage) (int, error) {
	value, ok := fields["attempt"]
	if !ok || string(value) == "null" {
		return 0, nil
	}
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 1 {
		return 0, invalid(problem{Type: codeInt, Loc: []any{"body", "attempt"}, Msg: "Input should be a valid integer, 1 or more", Input: raw(value)})
	}
	return n, nil
}

// decision returns the decision in a body whose fields were read.
func decision(body []byte, fields map[string]json.RawMessage) (protocol.DecisionMessage, error) {
	m, err := protocol.ParseDecision(body)
	if bad, ok := errors.AsType[*protocol.ValidationError](err); ok {
		list := make([]problem, 0, len(bad.Problems))
		for _, p := range bad.Problems {
			list = append(list, published(p, body, fields))
		}
		return m, invalid(list...)
	}
	return m, err
}

// published returns a problem of a decision as published clients know it.
func published(p protocol.Problem, body []byte, fields map[string]json.RawMessage) problem {
	got := problem{Type: p.Code, Loc: []any{"body"}, Msg: p.Msg}
	var value json.RawMessage = body
	for i, elem := range p.Path {
		parent := value
		switch {
		case len(body) > maxEcho: // it would be read once for each problem
			value, parent = nil, nil
		case i == 0:
			value = fields[elem]
		default:
			value = child(parent, elem)
		}
		if n, err := strconv.Atoi(elem); err == nil && i > 0 {
			got.Loc = append(got.Loc, n)
		} else {
			got.Loc = append(got.Loc, elem)
		}
		if p.Code == protocol.CodeMissing && i == len(p.Path)-1 {
			value = parent
		}
	}
	got.Input = raw(value)
	if p.Code == protocol.CodeString && slices.Equal(p.Path, []string{"decision"}) {
		got.Type = protocol.CodeEnum // to a published client no value of it is a text in the first place
	}
	switch got.Type {
	case protocol.CodeMissing:
		got.Msg = "Field required"
	case protocol.CodeString:
		got.Msg = "Input should be a valid string"
	case protocol.CodeList:
		got.Msg = "Input should be a valid list"
	case protocol.CodeObject:
		got.Msg = "Input should be a valid dictionary"
	case protocol.CodeEnum:
		got.Msg = "Input should be " + decisions()
		got.Ctx = map[string]string{"expected": decisions()}
	}
	return got
}

// decisions lists the decisions that there are, as published clients have it.
func decisions() string {
	var names []string
	for _, t := range protocol.DecisionTypes() {
		names = append(names, "'"+string(t)+"'")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// child returns what lies at a key or an index.
func child(data json.RawMessage, elem string) json.RawMessage {
	var list []json.RawMessage
	if n, err := strconv.Atoi(elem); err == nil && json.Unmarshal(data, &list) == nil && n < len(list) {
		return list[n]
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // what is no object has no fields
	return fields[elem]
}
