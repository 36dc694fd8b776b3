package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The codes of a [Problem]. The published harness uses the same codes in its 422 responses.
const (
	CodeMissing    = "missing"      // a required field is absent
	CodeString     = "string_type"  // not a string
	CodeEnum       = "enum"         // not one of the known values
	CodeList       = "list_type"    // not a list
	CodeObject     = "dict_type"    // not an object
	CodeJSON       = "json_invalid" // not JSON
	CodeRepository = "repo_format"  // not "owner/name"
	CodeTooLong    = "too_long"     // more than MaxDecisionValues values
)

// A Problem is one error in a message.
type Problem struct {
	Path []string // field names and list indices from the top; empty for the whole message
	Code string   // one of the Code constants
	Msg  string   // for humans
}

// maxProblems bounds the list of problems of one message. maxShown bounds how many its error text
// shows.
const (
	maxProblems = 100
	maxShown    = 10
)

// A ValidationError lists the problems of one message, at most 100, in the order of its fields.
type ValidationError struct {
	Message  string // the kind of message: "task", "decision" or "action"
	Problems []Problem
}

// Error joins the first ten problems with "; ". It quotes at most short parts of the message,
// without control characters.
func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "decode %s: ", e.Message)
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		if i == maxShown {
			fmt.Fprintf(&b, "and %d more", len(e.Problems)-maxShown)
			break
		}
		if len(p.Path) > 0 {
			b.WriteString(strings.Join(p.Path, "."))
			b.WriteString(": ")
		}
		b.WriteString(p.Msg)
	}
	return b.String()
}

// ParseDecision decodes a DecisionMessage. Absent actions mean none. The [ValidationError] lists
// null actions, an unknown decision, a missing rationale, fields of a wrong type, and more than
// [MaxDecisionValues] values. Unknown top-level fields are ignored. The parameters of actions are
// not checked here: see [ActionSpec.Check].
func ParseDecision(data []byte) (DecisionMessage, error) {
	var d decoder
	var m DecisionMessage
	if TooManyValues(data) {
		d.add(path{}, CodeTooLong, fmt.Sprintf("it contains more than %d values", MaxDecisionValues))
		return m, d.err("decision")
	}
	o := d.object(path{}, data)
	if o != nil {
		m.TaskID = d.text(path{}, o, "task_id", true)
		m.Decision = d.decision(o)
		m.Rationale = d.text(path{}, o, "rationale", true)
		m.Actions = d.actions(o)
	}
	if err := d.err("decision"); err != nil {
		return DecisionMessage{}, err
	}
	return m, nil
}

// ParseTask decodes a TaskMessage. The payload must be an object, and its bytes are kept. repo must
// be "owner/name". An absent task_id is the empty text: the published models let the receiver choose
// it. The error is a [ValidationError].
func ParseTask(data []byte) (TaskMessage, error) {
	var d decoder
	var m TaskMessage
	o := d.object(path{}, data)
	if o != nil {
		m.TaskID = d.text(path{}, o, "task_id", false)
		m.Type = d.text(path{}, o, "type", true)
		m.Repo = d.text(path{}, o, "repo", true)
		if _, _, ok := SplitRepo(m.Repo); !ok && kind(o["repo"]) == "a string" {
			d.add(path{"repo"}, CodeRepository, "want owner/name, got "+strconv.Quote(cut(m.Repo)))
		}
		if d.child(path{}, o, "payload") != nil {
			m.Payload = o["payload"]
		}
		m.Context = d.context(o)
		m.Claim = d.claim(o)
	}
	if err := d.err("task"); err != nil {
		return TaskMessage{}, err
	}
	return m, nil
}

// SplitRepo splits "owner/name". ok is true only for exactly two parts of letters, digits, '.', '_'
// and '-', neither of which is "." or "..". Each part is safe as an element of a path or a URL.
func SplitRepo(repo string) (owner, name string, ok bool) {
	owner, name, ok = strings.Cut(repo, "/")
	if !ok || !repoPart(owner) || !repoPart(name) {
		return "", "", false
	}
	return owner, name, true
}

func repoPart(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return s != "" && s != "." && s != ".." && strings.Trim(s, allowed) == ""
}

// path is the position of a value in a message.
type path []string

func (p path) at(elem string) path { return append(slices.Clip(p), elem) }

// decoder collects problems instead of stopping at the first.
type decoder struct{ problems []Problem }

func (d *decoder) add(p path, code, msg string) {
	if len(d.problems) == maxProblems {
		return
	}
	d.problems = append(d.problems, Problem{Path: p, Code: code, Msg: msg})
}

func (d *decoder) err(message string) error {
	if len(d.problems) == 0 {
		return nil
	}
	return &ValidationError{Message: message, Problems: d.problems}
}

// object decodes an object. For any other value it records a problem and returns nil.
func (d *decoder) object(p path, data []byte) map[string]json.RawMessage {
	o, err := object(data)
	switch {
	case errors.Is(err, errNotObject):
		d.add(p, CodeObject, "want an object, got "+kind(data))
	case err != nil:
		d.add(p, CodeJSON, "invalid JSON: "+err.Error())
	}
	return o
}

// child returns the required object at key.
func (d *decoder) child(p path, o map[string]json.RawMessage, key string) map[string]json.RawMessage {
	raw, ok := o[key]
	if !ok {
		d.add(p.at(key), CodeMissing, "required, but missing")
		return nil
	}
	return d.object(p.at(key), raw)
}

// text returns the string at key. If the key is absent, it returns "", and records a problem if the
// string is required.
func (d *decoder) text(p path, o map[string]json.RawMessage, key string, required bool) string {
	raw, ok := o[key]
	if !ok {
		if required {
			d.add(p.at(key), CodeMissing, "required, but missing")
		}
		return ""
	}
	var s string
	if kind(raw) != "a string" || json.Unmarshal(raw, &s) != nil {
		d.add(p.at(key), CodeString, "want a string, got "+kind(raw))
	}
	return s
}

func (d *decoder) decision(o map[string]json.RawMessage) DecisionType {
	got := DecisionType(d.text(path{}, o, "decision", true))
	if raw, ok := o["decision"]; !ok || kind(raw) != "a string" {
		return ""
	}
	if slices.Contains(DecisionTypes(), got) {
		return got
	}
	d.add(path{"decision"}, CodeEnum, fmt.Sprintf("want %s, got %q", quoteList(DecisionTypes()), cut(string(got))))
	return ""
}

func (d *decoder) actions(o map[string]json.RawMessage) []ActionItem {
	raw, ok := o["actions"]
	if !ok {
		return nil
	}
	var items []json.RawMessage
	if kind(raw) != "a list" || json.Unmarshal(raw, &items) != nil {
		d.add(path{"actions"}, CodeList, "want a list, got "+kind(raw))
		return nil
	}
	list := make([]ActionItem, 0, len(items))
	for i, item := range items {
		list = append(list, d.action(path{"actions", strconv.Itoa(i)}, item))
	}
	return list
}

func (d *decoder) action(p path, data []byte) ActionItem {
	o := d.object(p, data)
	if o == nil {
		return ActionItem{}
	}
	typ := d.text(p, o, "type", true)
	delete(o, "type")
	return ActionItem{Type: typ, fields: o, raw: compact(data), rawType: typ}
}

// claim returns the claim at key. It returns nil if the claim is absent or cannot be decoded: a
// later version may change the form of claims, and the task must stay valid.
func (d *decoder) claim(o map[string]json.RawMessage) *TaskClaim {
	var c TaskClaim
	if raw := o["claim"]; kind(raw) != "an object" || json.Unmarshal(raw, &c) != nil || c.Attempt < 1 {
		return nil
	}
	return &c
}

func (d *decoder) context(o map[string]json.RawMessage) TaskContext {
	var c TaskContext
	ctx := d.child(path{}, o, "context")
	if ctx == nil {
		return c
	}
	at := path{"context"}
	if llm := d.child(at, ctx, "llm_backend"); llm != nil {
		c.LLMBackend.Provider = d.text(at.at("llm_backend"), llm, "provider", true)
		c.LLMBackend.Model = d.text(at.at("llm_backend"), llm, "model", true)
	}
	if raw, ok := ctx["memory_summary"]; ok && kind(raw) != "null" {
		s := d.text(at, ctx, "memory_summary", false)
		c.MemorySummary = &s
	}
	return c
}
