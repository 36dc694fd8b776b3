package parity_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var inExpression = regexp.MustCompile(`(?s)\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces the expressions in an input by their values.
func expand(t *testing.T, text string, x expressions) string {
	t.Helper()
	return inExpression.ReplaceAllStringFunc(text, func(m string) string {
		return textOf(x.eval(t, inExpression.FindStringSubmatch(m)[1]))
	})
}

// expressions has the contexts that expressions of workflows use. github.event is read when an
// expression needs it.
type expressions struct {
	contexts map[string]any
	event    func() any
}

// with returns the expressions with one more context.
func (x expressions) with(name string, value any) expressions {
	x.contexts = maps.Clone(x.contexts)
	x.contexts[name] = value
	return x
}

// holds reports whether a condition of a job or a step is true. An empty condition is true.
func (x expressions) holds(t *testing.T, condition string) bool {
	t.Helper()
	condition = strings.TrimSpace(condition)
	if m := inExpression.FindStringSubmatch(condition); len(m) > 1 && m[0] == condition {
		condition = m[1]
	}
	return condition == "" || truthy(x.eval(t, condition))
}

var token = regexp.MustCompile(`'(?:[^']|'')*'|[0-9]+(?:\.[0-9]+)?|[A-Za-z_][\w\-]*|==|!=|<=|>=|&&|\|\||[!(),.*\[\]<>]`)

func (x expressions) eval(t *testing.T, text string) any {
	t.Helper()
	p := &expression{t: t, text: text, tokens: token.FindAllString(text, -1), x: x}
	v := p.or()
	if len(p.tokens) > 0 {
		t.Fatalf("expression %q: unexpected %q", text, p.tokens[0])
	}
	return v
}

// An expression is an expression during its evaluation. Its values are those of encoding/json.
type expression struct {
	t      *testing.T
	text   string
	tokens []string
	x      expressions
}

func (p *expression) take(want string) bool {
	if len(p.tokens) == 0 || p.tokens[0] != want {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *expression) next() string {
	if len(p.tokens) == 0 {
		p.t.Fatalf("expression %q ends too early", p.text)
	}
	word := p.tokens[0]
	p.tokens = p.tokens[1:]
	return word
}

func (p *expression) or() any {
	v := p.and()
	for p.take("||") {
		if w := p.and(); !truthy(v) {
			v = w
		}
	}
	return v
}

func (p *expression) and() any {
	v := p.compared()
	for p.take("&&") {
		if w := p.compared(); truthy(v) {
			v = w
		}
	}
	return v
}

func (p *expression) compared() any {
	v := p.unary()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			return holdsBetween(op, v, p.unary())
		}
	}
	return v
}

// holdsBetween compares as GitHub does: texts without letter case, values of different types as
// numbers.
func holdsBetween(op string, v, w any) bool {
	a, isText := v.(string)
	b, both := w.(string)
	if isText && both {
		order := strings.Compare(strings.ToLower(a), strings.ToLower(b))
		return ordered(op, order)
	}
	m, n := number(v), number(w)
	if math.IsNaN(m) || math.IsNaN(n) {
		return op == "!="
	}
	return ordered(op, cmp.Compare(m, n))
}

func ordered(op string, order int) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<=":
		return order <= 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	}
	return order > 0
}

func (p *expression) unary() any {
	if p.take("!") {
		return !truthy(p.unary())
	}
	v := p.primary()
	for {
		switch {
		case p.take("."):
			v = member(v, p.next())
		case p.take("["):
			v = member(v, textOf(p.or()))
			p.take("]")
		default:
			return v
		}
	}
}

func (p *expression) primary() any {
	if p.take("(") {
		v := p.or()
		if !p.take(")") {
			p.t.Fatalf("expression %q: no closing parenthesis", p.text)
		}
		return v
	}
	word := p.next()
	if n, err := strconv.ParseFloat(word, 64); err == nil {
		return n
	}
	if strings.HasPrefix(word, "'") {
		return strings.ReplaceAll(word[1:len(word)-1], "''", "'")
	}
	if p.take("(") {
		var args []any
		for !p.take(")") {
			args = append(args, p.or())
			p.take(",")
		}
		return p.call(word, args)
	}
	switch word {
	case "true", "false":
		return word == "true"
	case "null":
		return nil
	case "github":
		github := maps.Clone(p.x.contexts["github"].(map[string]any))
		if len(p.tokens) > 1 && p.tokens[1] == "event" {
			github["event"] = p.x.event()
		}
		return github
	}
	return p.x.contexts[word]
}

func (p *expression) call(name string, args []any) any {
	arg := func(i int) any {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	a, b := strings.ToLower(textOf(arg(0))), strings.ToLower(textOf(arg(1)))
	switch name {
	case "always", "success":
		return true
	case "failure", "cancelled":
		return false
	case "startsWith":
		return strings.HasPrefix(a, b)
	case "endsWith":
		return strings.HasSuffix(a, b)
	case "contains":
		if list, ok := arg(0).([]any); ok {
			return slices.ContainsFunc(list, func(v any) bool { return holdsBetween("==", v, arg(1)) })
		}
		return strings.Contains(a, b)
	case "join":
		list, _ := arg(0).([]any)
		var texts []string
		for _, v := range list {
			texts = append(texts, textOf(v))
		}
		return strings.Join(texts, cmp.Or(textOf(arg(1)), ","))
	case "fromJSON":
		var v any
		if err := json.Unmarshal([]byte(textOf(arg(0))), &v); err != nil {
			p.t.Fatalf("expression %q: %v", p.text, err)
		}
		return v
	}
	p.t.Fatalf("expression %q: unknown function %s", p.text, name)
	return nil
}

// member returns a member of an object, an element of each object of a list, or nil.
func member(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		if name == "*" {
			return v
		}
		var list []any
		for _, e := range v {
			list = append(list, member(e, name))
		}
		return list
	}
	return nil
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return true
}

func number(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if n, err := strconv.ParseFloat(cmp.Or(strings.TrimSpace(v), "0"), 64); err == nil {
			return n
		}
	}
	return math.NaN()
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
