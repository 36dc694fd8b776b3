package parity_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A flow is the part of a workflow that a test needs: its triggers, and the steps that use the
// tool.
type flow struct {
	on    map[string][]string // types by event; nil: GitHub's default types
	env   map[string]string
	steps []flowStep
}

// A flowStep is a step that uses the tool, with its conditions and those of its job.
type flowStep struct {
	conditions []string
	with       map[string]string
}

// runs reports whether the conditions of the step and of its job are true.
func (s flowStep) runs(t *testing.T, x expressions) bool {
	t.Helper()
	return x.holds(t, s.conditions[0]) && x.holds(t, s.conditions[1])
}

// readFlow reads a workflow that uses an action.
func readFlow(t *testing.T, src []byte, action string) flow {
	t.Helper()
	var w struct {
		On   yaml.Node
		Env  map[string]string
		Jobs map[string]struct {
			If    string
			Env   map[string]string
			Steps []struct {
				If   string
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(src, &w); err != nil {
		t.Fatal(err)
	}
	f := flow{on: map[string][]string{}, env: w.Env}
	switch w.On.Kind {
	case yaml.ScalarNode:
		f.on[w.On.Value] = nil
	case yaml.SequenceNode:
		for _, n := range w.On.Content {
			f.on[n.Value] = nil
		}
	default:
		for i := 0; i < len(w.On.Content); i += 2 {
			f.on[w.On.Content[i].Value] = typesOf(w.On.Content[i+1])
		}
	}
	for _, j := range w.Jobs {
		for _, s := range j.Steps {
			if name, _, _ := strings.Cut(s.Uses, "@"); strings.EqualFold(name, action) {
				f.steps = append(f.steps, flowStep{conditions: []string{j.If, s.If}, with: s.With})
			}
		}
	}
	if len(f.steps) == 0 {
		t.Fatalf("no step uses %s", action)
	}
	return f
}

// typesOf returns the types of an event; nil when the workflow lists none.
func typesOf(n *yaml.Node) []string {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var v struct{ Types yaml.Node }
	if n.Decode(&v) != nil {
		return nil
	}
	if v.Types.Kind == yaml.ScalarNode {
		return []string{v.Types.Value}
	}
	var list []string
	for _, c := range v.Types.Content {
		list = append(list, c.Value)
	}
	return list
}

// hears returns the name under which the workflow gets an event; "" when it does not.
func (f flow) hears(event, action string) string {
	names := []string{event}
	if event == "pull_request" {
		names = append(names, "pull_request_target")
	}
	for _, name := range names {
		types, on := f.on[name]
		if types == nil && event == "pull_request" {
			types = []string{"opened", "synchronize", "reopened"}
		}
		if on && (types == nil || slices.Contains(types, action)) {
			return name
		}
	}
	return ""
}

var inExpression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces the expressions in an input by their values.
func expand(t *testing.T, text string, x expressions) string {
	t.Helper()
	return inExpression.ReplaceAllStringFunc(text, func(m string) string {
		return x.eval(t, inExpression.FindStringSubmatch(m)[1])
	})
}

// expressions maps the paths that expressions use to their values. It evaluates paths, string
// literals, ==, !=, &&, ||, !, contains and startsWith. All values are strings; false and null are
// "".
type expressions map[string]string

// holds reports whether a condition of a job or a step is true. An empty condition is true.
func (x expressions) holds(t *testing.T, condition string) bool {
	t.Helper()
	condition = strings.TrimSpace(condition)
	if m := inExpression.FindStringSubmatch(condition); len(m) > 1 && m[0] == condition {
		condition = m[1]
	}
	return condition == "" || x.eval(t, condition) != ""
}

var token = regexp.MustCompile(`'[^']*'|[A-Za-z_][\w.\-]*|==|!=|&&|\|\||[!(),]`)

func (x expressions) eval(t *testing.T, text string) string {
	t.Helper()
	p := &expression{t: t, text: text, tokens: token.FindAllString(text, -1), x: x}
	v := p.or()
	if len(p.tokens) > 0 {
		t.Fatalf("expression %q: unexpected %q", text, p.tokens[0])
	}
	return v
}

// An expression is an expression during its evaluation.
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

func truth(b bool) string {
	if b {
		return "true"
	}
	return ""
}

func (p *expression) or() string {
	v := p.and()
	for p.take("||") {
		if w := p.and(); v == "" {
			v = w
		}
	}
	return v
}

func (p *expression) and() string {
	v := p.equal()
	for p.take("&&") {
		if w := p.equal(); v != "" {
			v = w
		}
	}
	return v
}

func (p *expression) equal() string {
	v := p.unary()
	switch {
	case p.take("=="):
		return truth(strings.EqualFold(v, p.unary()))
	case p.take("!="):
		return truth(!strings.EqualFold(v, p.unary()))
	}
	return v
}

func (p *expression) unary() string {
	switch {
	case p.take("!"):
		return truth(p.unary() == "")
	case p.take("("):
		v := p.or()
		if !p.take(")") {
			p.t.Fatalf("expression %q: no closing parenthesis", p.text)
		}
		return v
	case len(p.tokens) == 0:
		p.t.Fatalf("expression %q ends too early", p.text)
	}
	word := p.tokens[0]
	p.tokens = p.tokens[1:]
	if strings.HasPrefix(word, "'") {
		return strings.Trim(word, "'")
	}
	if p.take("(") {
		a := p.or()
		p.take(",")
		b := p.or()
		p.take(")")
		a, b = strings.ToLower(a), strings.ToLower(b)
		switch word {
		case "contains":
			return truth(strings.Contains(a, b))
		case "startsWith":
			return truth(strings.HasPrefix(a, b))
		}
		p.t.Fatalf("expression %q: unknown function %s", p.text, word)
	}
	if word == "true" || word == "false" {
		return truth(word == "true")
	}
	return p.x[word]
}
