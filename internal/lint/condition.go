package lint

import (
	"encoding/json"
	"slices"
	"strings"
)

// A truth says whether a condition is true, ordered from false to true.
type truth int

const (
	no truth = iota
	maybe
	yes
)

// A condition is the "if" of a job or a step, an expression of GitHub Actions. Only the event and
// the label have known values in it.
type condition struct {
	tokens []token
	texts  []string // string literals in it
	asks   bool     // it refers to labels of the event
}

const (
	maxCondition = 4096 // bytes; a longer condition counts as possibly true
	maxOpen      = 50   // nested parentheses
)

// parseCondition parses a condition. It returns nil if src is empty.
func parseCondition(src string) *condition {
	src = strings.NewReplacer("${{", "(", "}}", ")").Replace(src)
	if src == "" {
		return nil
	}
	c := &condition{}
	if len(src) > maxCondition {
		return c
	}
	c.tokens = tokens(src)
	c.asks = slices.ContainsFunc(c.tokens, func(t token) bool { return t.kind == name && labelPath(t.text) != 0 })
	for _, t := range c.tokens {
		if t.kind != quoted {
			continue
		}
		c.texts = append(c.texts, t.text)
		c.texts = append(c.texts, listOf(t.text)...)
		for part := range strings.SplitSeq(t.text, ",") {
			c.texts = append(c.texts, strings.TrimSpace(part))
		}
	}
	return c
}

// listOf parses a JSON list of strings.
func listOf(s string) []string {
	var list []string
	if json.Unmarshal([]byte(s), &list) != nil {
		return nil
	}
	return list
}

// asksLabel reports whether the condition refers to labels of the event.
func (c *condition) asksLabel() bool { return c != nil && c.asks }

// holds evaluates the condition for an event that adds the label to an issue without other labels.
func (c *condition) holds(event, label string) truth {
	if c == nil {
		return yes
	}
	r := reader{tokens: c.tokens, event: event, label: label}
	v := r.either()
	if r.failed || r.at < len(r.tokens) {
		return maybe
	}
	return v.truth()
}

// A token is a part of an expression.
type token struct {
	kind kind
	text string
}

type kind int

const (
	sign kind = iota
	quoted
	name // a path such as github.event.label.name, or a number
)

// tokens splits an expression. A string that is not closed ends at the end of the expression.
func tokens(s string) []token {
	var list []token
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		n := len(s) - len(strings.TrimLeftFunc(s, inPath))
		switch {
		case n > 0:
			list, s = append(list, token{name, strings.ToLower(s[:n])}), s[n:]
		case s[0] == '\'':
			text, rest := unquote(s[1:])
			list, s = append(list, token{quoted, text}), rest
		case len(s) > 1 && slices.Contains([]string{"&&", "||", "==", "!=", "<=", ">="}, s[:2]):
			list, s = append(list, token{sign, s[:2]}), s[2:]
		default:
			list, s = append(list, token{sign, s[:1]}), s[1:]
		}
	}
	return list
}

func inPath(r rune) bool {
	return r == '.' || r == '_' || r == '-' || r == '*' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// unquote reads a string up to its closing quote. Two single quotes stand for one.
func unquote(s string) (text, rest string) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if !strings.HasPrefix(s[i+1:], "'") {
			return strings.ReplaceAll(s[:i], "''", "'"), s[i+1:]
		}
		i++
	}
	return strings.ReplaceAll(s, "''", "'"), ""
}

// labelPath returns 1 for the path of the event's label, 2 for the path of a list of labels, and 0
// for any other path.
func labelPath(path string) int {
	switch path {
	case "github.event.label.name":
		return 1
	case "github.event.issue.labels.*.name", "github.event.pull_request.labels.*.name":
		return 2
	}
	return 0
}
