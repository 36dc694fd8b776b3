package api

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/protocol"
)

// maxSearched is the maximum size, in bytes, of a body whose invalid values are included in its
// problems. Including a value costs another decoding of the body for each problem.
const maxSearched = 64 << 10

// parseDecision returns the decision in a body, or an error with the problems of the body.
func parseDecision(body request.Object) (protocol.DecisionMessage, error) {
	m, err := protocol.ParseDecision(body.Data)
	if invalid, ok := errors.AsType[*protocol.ValidationError](err); ok {
		list := make([]request.Problem, 0, len(invalid.Problems))
		for _, p := range invalid.Problems {
			list = append(list, decisionProblem(p, body))
		}
		return m, request.Invalid(list...)
	}
	return m, err
}

// decisionProblem converts a problem of package protocol to the format that published clients know.
func decisionProblem(p protocol.Problem, body request.Object) request.Problem {
	got := request.Problem{Type: p.Code, Loc: []any{"body"}, Msg: p.Msg}
	value := json.RawMessage(body.Data)
	for i, elem := range p.Path {
		parent := value
		switch {
		case len(body.Data) > maxSearched:
			value, parent = nil, nil
		case i == 0:
			value = body.Fields[elem]
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
	got.Input = request.Echo(value)
	if p.Code == protocol.CodeString && slices.Equal(p.Path, []string{"decision"}) {
		got.Type = protocol.CodeEnum // the only code that published clients know here
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

// decisions lists the valid decisions in the format of the published protocol.
func decisions() string {
	var names []string
	for _, t := range protocol.DecisionTypes() {
		names = append(names, "'"+string(t)+"'")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// child returns the value at a key or an index of a JSON value, or nil if there is none.
func child(data json.RawMessage, elem string) json.RawMessage {
	var list []json.RawMessage
	if n, err := strconv.Atoi(elem); err == nil && json.Unmarshal(data, &list) == nil && n < len(list) {
		return list[n]
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // other values have no fields
	return fields[elem]
}
