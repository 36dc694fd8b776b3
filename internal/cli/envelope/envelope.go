// Package envelope implements the input and output of the tools for agents: an object of JSON
// on standard input, files below the working directory, and always one line of JSON on standard
// output.
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/workdir"
)

// The limits of the tools' input.
const (
	MaxInput = 2 << 20 // bytes on standard input
	MaxFile  = 1 << 20 // bytes of a file
)

// maxName is the approximate number of characters of a name that a problem repeats.
const maxName = 200

// The codes of problems with a tool's input; package handoff defines the other codes.
const (
	CodeInput    = "invalid_input"
	CodeNotFound = "file_not_found"
	CodeRead     = "unreadable"
	CodeWrite    = "unwritable"
	CodeEscape   = "path_escape"
	CodeTooLarge = "too_large"
)

// The paths of problems that do not belong to a place in a result.
const (
	Stdin = "<stdin>"
	Tool  = "<tool>"
)

// An Envelope is the report of a tool that checks a result or that fails.
type Envelope struct {
	OK     bool              `json:"ok"`
	Errors []handoff.Problem `json:"errors"` // never nil
}

// Of returns the envelope of zero or more problems.
func Of(problems ...handoff.Problem) Envelope {
	return Envelope{len(problems) == 0, append([]handoff.Problem{}, problems...)}
}

// Print writes a report as one line, and ends the command with an exit code.
func Print(env process.Env, report any, code int) error {
	if err := env.Print(format.JSON(report, "") + "\n"); err != nil {
		return err
	}
	return command.Reported(code)
}

// Usage reports a mistake in the arguments.
func Usage(env process.Env, err error) error {
	return Print(env, Of(handoff.Problem{Path: Tool, Code: CodeInput, Message: err.Error()}), command.ExitUsage)
}

// An Input holds the members of the object on standard input.
type Input map[string]json.RawMessage

// Read reads standard input. A nil stdin and white space alone both mean an empty object.
func Read(stdin io.Reader) (Input, *handoff.Problem) {
	var data []byte
	if stdin != nil {
		var err error
		if data, err = io.ReadAll(io.LimitReader(stdin, MaxInput+1)); err != nil {
			return nil, &handoff.Problem{Path: Stdin, Code: CodeRead, Message: "read standard input: " + err.Error()}
		}
	}
	if len(data) > MaxInput {
		return nil, &handoff.Problem{Path: Stdin, Code: CodeTooLarge, Message: fmt.Sprintf("standard input has more than %d bytes", MaxInput)}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Input{}, nil
	}
	if err := Check(data); err != nil {
		return nil, &handoff.Problem{Path: Stdin, Code: handoff.CodeInvalidJSON, Message: "standard input must be one JSON object: " + err.Error()}
	}
	var in Input
	if err := json.Unmarshal(data, &in); err != nil || in == nil {
		return nil, &handoff.Problem{Path: Stdin, Code: handoff.CodeType, Message: "standard input must be a JSON object, such as {} or {\"path\": \"file.json\"}"}
	}
	return in, nil
}

// Check returns an error with the position if data is not exactly one JSON value in UTF-8.
func Check(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8")
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := text.Position(string(data), max(0, int(syntax.Offset)-1))
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}

// Text returns a member that must be a string, and whether it is there.
func (in Input) Text(name string) (s string, there bool, problem *handoff.Problem) {
	raw, there := in[name]
	if !there {
		return "", false, nil
	}
	var value *string
	if err := json.Unmarshal(raw, &value); err != nil || value == nil {
		return "", true, &handoff.Problem{Path: name, Code: handoff.CodeType, Message: name + " must be a string"}
	}
	return *value, true, nil
}

// Path returns the member "path", which must name a file.
func (in Input) Path() (string, *handoff.Problem) {
	path, there, problem := in.Text("path")
	if problem == nil && (!there || path == "") {
		problem = &handoff.Problem{Path: "path", Code: handoff.CodeRequired, Message: "path must name a file below the working directory"}
	}
	return path, problem
}

// Result returns the result to check: the member "data", else the file named by "path", else the
// role's default file. It also returns the file's name, which is empty for "data".
func (in Input) Result(role handoff.Role, dir workdir.Dir) (data []byte, name string, problem *handoff.Problem) {
	if data, there := in["data"]; there {
		return data, "", nil
	}
	name = role.ResultFile()
	if _, there := in["path"]; there {
		if name, problem = in.Path(); problem != nil {
			return nil, name, problem
		}
	} else if len(in) > 0 {
		return nil, name, &handoff.Problem{Path: Stdin, Code: CodeInput, Message: fmt.Sprintf(
			"standard input has neither \"data\" nor \"path\": pass a result as {\"data\": …}, a file as {\"path\": …}, and {} for %s", name)}
	}
	data, problem = ReadFile(dir, name)
	return data, name, problem
}

// ReadFile reads a file below the working directory.
func ReadFile(dir workdir.Dir, name string) ([]byte, *handoff.Problem) {
	data, err := dir.Read(name, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileProblem(CodeNotFound, "read", name, errors.New("there is no such file"))
	}
	if err != nil {
		return nil, fileProblem(CodeRead, "read", name, err)
	}
	return data, nil
}

// WriteFile writes a file below the working directory.
func WriteFile(dir workdir.Dir, name string, data []byte) *handoff.Problem {
	if err := dir.Write(name, data); err != nil {
		return fileProblem(CodeWrite, "write", name, err)
	}
	return nil
}

// fileProblem returns the problem of a file. It uses code unless the error has its own code.
func fileProblem(code, verb, name string, err error) *handoff.Problem {
	switch {
	case errors.Is(err, workdir.ErrEscape):
		code = CodeEscape
	case errors.Is(err, workdir.ErrTooLarge):
		code = CodeTooLarge
	}
	name = text.Shorten(name, maxName)
	return &handoff.Problem{Path: name, Code: code, Message: verb + " " + name + ": " + err.Error()}
}

// Parse validates a result, and returns its problems as the tool reports them: invalid JSON is a
// problem with the file. If there are problems, the value is nil.
func Parse(role handoff.Role, data []byte, name string) (value any, problems []handoff.Problem) {
	var err error
	if role == handoff.Builder {
		value, err = handoff.ParseBuilder(data)
	} else {
		value, err = handoff.ParseInspector(data)
	}
	if err == nil {
		return value, nil
	}
	invalid, ok := errors.AsType[*handoff.ValidationError](err)
	if !ok {
		return nil, []handoff.Problem{{Path: Tool, Code: CodeRead, Message: err.Error()}}
	}
	if p := &invalid.Problems[0]; p.Code == handoff.CodeInvalidJSON && name != "" {
		p.Path = text.Shorten(name, maxName)
	}
	return nil, invalid.Problems
}
