package request

import (
	"encoding/json"
	"net/http"

	"github.com/org/foreman-action/internal/server/response"
)

// A Problem is one mistake in a request, in the format that published clients know, which is that
// of FastAPI's validation errors.
type Problem struct {
	Type  string            `json:"type"`  // a code
	Loc   []any             `json:"loc"`   // "body" or "query", then keys and indexes
	Msg   string            `json:"msg"`   // for people
	Input json.RawMessage   `json:"input"` // the wrong value; see Echo
	Ctx   map[string]string `json:"ctx,omitempty"`
}

// Codes and messages of problems that package protocol does not define.
const (
	codeNotObject = "model_attributes_type"
	codeInt       = "int_type"
	codeValue     = "value_error"
	msgMissing    = "Field required"
	msgNotObject  = "Input should be a valid dictionary or object to extract fields from"
)

// Invalid returns the error for a request with problems.
func Invalid(list ...Problem) error {
	return &response.Error{Status: http.StatusUnprocessableEntity, Detail: list}
}

// InvalidValue returns the error for an unusable value of the right type. A nil input is left out
// of the answer.
func InvalidValue(msg string, input []byte, loc ...any) error {
	return invalid(codeValue, "Value error, "+msg, input, loc...)
}

func invalid(code, msg string, input []byte, loc ...any) error {
	return Invalid(Problem{Type: code, Loc: loc, Msg: msg, Input: Echo(input)})
}

// Echo returns a value as the Input of a problem, or null if it is too long or no JSON.
func Echo(data []byte) json.RawMessage {
	const most = 2 << 10
	if len(data) > most || !json.Valid(data) {
		return json.RawMessage("null")
	}
	return data
}
