package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
)

// readJSON returns the content of a JSON file.
func readJSON(_ context.Context, c call) (any, int) {
	name, problem := c.in.Path()
	if problem != nil {
		return failed(problem)
	}
	data, problem := envelope.ReadFile(c.dir, name)
	if problem != nil {
		return failed(problem)
	}
	if err := envelope.Check(data); err != nil {
		return failed(&handoff.Problem{Path: name, Code: handoff.CodeInvalidJSON, Message: name + " must be JSON: " + err.Error()})
	}
	return struct {
		OK   bool            `json:"ok"`
		Data json.RawMessage `json:"data"`
	}{true, data}, command.ExitOK
}

// writeJSON writes a JSON file, indented, with keys in the order in which they came.
func writeJSON(_ context.Context, c call) (any, int) {
	name, problem := c.in.Path()
	if problem != nil {
		return failed(problem)
	}
	data, there := c.in["data"]
	if !there {
		return failed(&handoff.Problem{Path: "data", Code: handoff.CodeRequired, Message: "data must be the JSON value to write"})
	}
	if indentedSize(data) > envelope.MaxFile {
		return failed(&handoff.Problem{Path: "data", Code: envelope.CodeTooLarge, Message: fmt.Sprintf("data must have at most %d bytes as an indented file", envelope.MaxFile)})
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return failed(&handoff.Problem{Path: "data", Code: handoff.CodeInvalidJSON, Message: "data must be JSON: " + err.Error()})
	}
	b.WriteByte('\n')
	if problem := envelope.WriteFile(c.dir, name, b.Bytes()); problem != nil {
		return failed(problem)
	}
	return struct {
		OK bool `json:"ok"`
	}{true}, command.ExitOK
}

// indentedSize returns an upper estimate of the size of valid JSON with indentation, in bytes:
// deep nesting makes a small document large.
func indentedSize(data []byte) int {
	size, depth, quoted := len(data)+1, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			size += 1 + 2*depth
		case c == '}' || c == ']':
			depth--
			size += 1 + 2*depth
		case c == ',':
			size += 1 + 2*depth
		case c == ':':
			size++
		}
	}
	return size
}
