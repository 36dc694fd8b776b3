package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/text"
)

// decode returns the value of a JSON text. Keys of objects are case-sensitive.
func decode(data []byte) (v any, err error) {
	switch {
	case !utf8.Valid(data):
		return nil, errors.New("it is not UTF-8")
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return nil, errors.New("it begins with a byte order mark (U+FEFF)")
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("it is empty")
	}
	err = json.Unmarshal(data, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := text.Position(string(data), max(0, int(syntax.Offset)-1))
		return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	if err != nil {
		// The error is a number out of range, which the contract allows. So numbers are kept as
		// text.
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		err = dec.Decode(&v)
	}
	return v, err
}

// A checker collects the problems of one result.
type checker struct {
	role     Role
	problems []Problem
}

// add records a problem with the message "<path> must …".
func (c *checker) add(path, code, must string) {
	if len(c.problems) == MaxProblems {
		return
	}
	subject := path
	if path == Root {
		subject = c.role.ResultName()
	}
	c.problems = append(c.problems, Problem{path, code, subject + " " + must})
}

func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return &ValidationError{c.role, c.problems}
}

// root decodes a result and returns its object, or nil if the result is not an object.
func (c *checker) root(data []byte) map[string]any {
	v, err := decode(data)
	if err != nil {
		c.add(Root, CodeInvalidJSON, "must be one JSON object: "+err.Error())
		return nil
	}
	root, ok := v.(map[string]any)
	if !ok {
		c.add(Root, CodeType, "must be a JSON object"+hint(v))
	}
	return root
}

// hint explains the most common mistake: an object that was encoded twice.
func hint(v any) string {
	s, ok := v.(string)
	if ok && strings.HasPrefix(trim(s), "{") {
		return ", not a string that holds one: pass the object itself, unquoted"
	}
	return ""
}

// run decodes the part "run", which both results have.
func (c *checker) run(root map[string]any) Run {
	run, ok := root["run"].(map[string]any)
	if !ok {
		c.add("run", CodeRequired, "must be an object")
		return Run{}
	}
	return Run{
		Status:     enum(c, run["status"], "run.status", OK, Failed),
		FailedStep: c.optional(run["failed_step"], "run.failed_step"),
		Error:      c.optional(run["error"], "run.error"),
	}
}

// work returns the part "work", or nil if there is none. A failed run must have no work; a run with
// any other status, even an unknown one, must have some.
func (c *checker) work(root map[string]any, run Run) map[string]any {
	v, there := root["work"]
	if run.Status == Failed {
		if v != nil || !there {
			c.add("work", CodeInvalid, "must be null when run.status is 'failed'")
		}
		return nil
	}
	work, ok := v.(map[string]any)
	if !ok {
		c.add("work", CodeRequired, "must be an object unless run.status is 'failed'")
	}
	return work
}

// optional returns a string that may be null or absent.
func (c *checker) optional(v any, path string) *string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return &v
	}
	c.add(path, CodeType, "must be a string or null")
	return nil
}

// enum returns v if it is one of the known values. Otherwise it records a problem and returns "".
func enum[T ~string](c *checker, v any, path string, known ...T) T {
	if s, ok := v.(string); ok {
		for _, k := range known {
			if s == string(k) {
				return k
			}
		}
	}
	c.add(path, CodeEnum, "must be "+alternatives(known))
	return ""
}

// alternatives renders values as 'a', 'b' or 'c'.
func alternatives[T ~string](list []T) string {
	var b strings.Builder
	for i, s := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("'" + string(s) + "'")
	}
	return b.String()
}

// phrase returns v if it is a string that is not blank; ok is false for any other value.
func phrase(v any) (s string, ok bool) {
	s, ok = v.(string)
	return s, ok && trim(s) != ""
}

// phrases returns the strings of a list. A blank string is a problem.
func (c *checker) phrases(list []any, path string) []string {
	out := make([]string, 0, len(list))
	for i, v := range list {
		s, ok := phrase(v)
		if !ok {
			c.add(at(path, i), CodeType, "must be a non-empty string")
		}
		out = append(out, s)
	}
	return out
}

func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// trim removes the white space that JavaScript's trim removes, because the published validators are
// written in JavaScript: U+FEFF is white space, U+0085 and U+001F are not.
func trim(s string) string {
	return strings.Trim(s, "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
}

// length returns the length of a text in UTF-16 code units, as JavaScript does.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
