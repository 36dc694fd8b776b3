// Package ghexpr parses the expressions of workflow files of GitHub Actions, such as the "if" of a
// job.
//
// The functions are pure and safe for concurrent use. Their cost depends only on the length of the
// expression, which is limited.
package ghexpr

import (
	"errors"
	"slices"
	"strings"
)

// A Node is a node of the syntax tree of an expression.
type Node struct {
	Kind Kind
	Text string // a literal, an operator, or a path or function in lower case
	Name string // a path, function or part as written in the source
	Args []*Node
	At   int // offset in the source, in characters
}

// A Kind is the kind of a node.
type Kind int

// The kinds of nodes.
const (
	Literal  Kind = iota // a text
	Word                 // true, false, null or a number
	Path                 // such as github.event.action
	Function             // a call
	Operator             // "!" with one operand, a comparison with two, "&&" or "||" with two or more
	Part                 // a part of the first argument; the second is its index if that is computed
)

const (
	maxLength = 4096 // bytes
	maxDepth  = 50   // nesting of brackets and operators
)

var errSyntax = errors.New("the expression is malformed")

// A parser reads tokens from left to right.
type parser struct {
	tokens []token
	depth  int
}

type token struct {
	kind Kind // Operator also for brackets and commas, Path for names
	text string
	name string // as written in the source
	at   int
}

// Parse parses an expression. It reads "${{" and "}}" as brackets. ok is false if GitHub would refuse
// the expression, or if it is too long or too deep.
func Parse(src string) (n *Node, ok bool) {
	if len(src) > maxLength {
		return nil, false
	}
	tokens, ok := scan(src)
	if !ok {
		return nil, false
	}
	p := parser{tokens: tokens}
	n, err := p.either()
	return n, err == nil && len(p.tokens) == 0
}

// signs are the operators and brackets.
var signs = []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", ",", "[", "]"}

// scan splits an expression into tokens.
func scan(src string) (list []token, ok bool) {
	for i := 0; i < len(src); {
		c := src[i]
		at := len([]rune(src[:i]))
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case strings.HasPrefix(src[i:], "${{"):
			list, i = append(list, token{kind: Operator, text: "(", at: at}), i+len("${{")
		case strings.HasPrefix(src[i:], "}}"):
			list, i = append(list, token{kind: Operator, text: ")", at: at}), i+len("}}")
		case c == '\'':
			text, n := quoted(src[i:])
			if n == 0 {
				return nil, false
			}
			list, i = append(list, token{kind: Literal, text: text, at: at}), i+n
		case nameLetter(c):
			n := 1
			for i+n < len(src) && nameLetter(src[i+n]) {
				n++
			}
			name := src[i : i+n]
			list, i = append(list, token{Path, strings.ToLower(name), name, at}), i+n
		default:
			sign := src[i : i+1]
			if i+2 <= len(src) && slices.Contains(signs, src[i:i+2]) {
				sign = src[i : i+2]
			}
			if !slices.Contains(signs, sign) {
				return nil, false
			}
			list, i = append(list, token{kind: Operator, text: sign, at: at}), i+len(sign)
		}
	}
	return list, true
}

func nameLetter(c byte) bool {
	return c == '.' || c == '_' || c == '-' || c == '*' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quoted reads a text in quotation marks; a doubled mark inside it means one mark. n is the text's
// length in the source; 0: the closing mark is missing.
func quoted(src string) (text string, n int) {
	for i := 1; i < len(src); i++ {
		if src[i] != '\'' {
			continue
		}
		if i+1 < len(src) && src[i+1] == '\'' {
			i++
			continue
		}
		return strings.ReplaceAll(src[1:i], "''", "'"), i + 1
	}
	return "", 0
}

// sign consumes the next token if it is one of the signs.
func (p *parser) sign(signs ...string) (t token, ok bool) {
	if len(p.tokens) == 0 || p.tokens[0].kind != Operator || !slices.Contains(signs, p.tokens[0].text) {
		return token{}, false
	}
	t, p.tokens = p.tokens[0], p.tokens[1:]
	return t, true
}

func (p *parser) either() (*Node, error)  { return p.chain("||", p.both) }
func (p *parser) both() (*Node, error)    { return p.chain("&&", p.equal) }
func (p *parser) equal() (*Node, error)   { return p.compared(p.ordered, "==", "!=") }
func (p *parser) ordered() (*Node, error) { return p.compared(p.single, "<=", ">=", "<", ">") }

// chain reads operands that are joined by one operator.
func (p *parser) chain(op string, operand func() (*Node, error)) (*Node, error) {
	n, err := operand()
	if err != nil {
		return nil, err
	}
	if t, ok := p.sign(op); ok {
		n = &Node{Kind: Operator, Text: t.text, Args: []*Node{n}, At: n.At}
		for ok {
			next, err := operand()
			if err != nil {
				return nil, err
			}
			n.Args = append(n.Args, next)
			_, ok = p.sign(op)
		}
	}
	return n, nil
}

// compared reads operands that are joined by the operators. Those on the left bind first.
func (p *parser) compared(operand func() (*Node, error), operators ...string) (*Node, error) {
	n, err := operand()
	for err == nil {
		t, ok := p.sign(operators...)
		if !ok {
			return n, nil
		}
		var right *Node
		right, err = operand()
		n = &Node{Kind: Operator, Text: t.text, Args: []*Node{n, right}, At: n.At}
	}
	return nil, err
}

// single reads a negation, or a value with its indexes and properties.
func (p *parser) single() (*Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	if t, ok := p.sign("!"); ok {
		n, err := p.single()
		return &Node{Kind: Operator, Text: "!", Args: []*Node{n}, At: t.at}, err
	}
	n, err := p.value()
	for err == nil {
		var more bool
		if n, more, err = p.part(n); !more {
			break
		}
	}
	return n, err
}

// value reads brackets, a call, a path or a literal.
func (p *parser) value() (*Node, error) {
	if _, ok := p.sign("("); ok {
		n, err := p.either()
		if _, closed := p.sign(")"); err == nil && !closed {
			err = errSyntax
		}
		return n, err
	}
	if len(p.tokens) == 0 || p.tokens[0].kind == Operator {
		return nil, errSyntax
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	n := &Node{Kind: t.kind, Text: t.text, Name: t.name, At: t.at}
	if t.kind == Literal {
		return n, nil
	}
	if _, call := p.sign("("); call {
		n.Kind = Function
		return n, p.arguments(n)
	}
	if t.text == "true" || t.text == "false" || t.text == "null" || t.text[0] == '-' || t.text[0] >= '0' && t.text[0] <= '9' {
		n.Kind = Word
	}
	return n, nil
}

// part reads an index in brackets, or a property after a bracket. more is false if there is none. A
// name or a number in brackets after a path is a part of the path.
func (p *parser) part(n *Node) (of *Node, more bool, err error) {
	if n.Kind == Literal || n.Kind == Word {
		return n, false, nil
	}
	if len(p.tokens) > 0 && p.tokens[0].kind == Path && strings.HasPrefix(p.tokens[0].text, ".") {
		t := p.tokens[0]
		p.tokens = p.tokens[1:]
		return extended(n, t.text, t.name), true, nil
	}
	if _, open := p.sign("["); !open {
		return n, false, nil
	}
	index, err := p.either()
	if _, closed := p.sign("]"); err == nil && !closed {
		err = errSyntax
	}
	if err != nil {
		return nil, false, err
	}
	switch {
	case index.Kind == Literal:
		return extended(n, "."+strings.ToLower(index.Text), "."+index.Text), true, nil
	case index.Kind == Word || index.Text == "*":
		return extended(n, "."+index.Text, "."+index.Name), true, nil
	}
	return &Node{Kind: Part, Name: n.label() + "[…]", Args: []*Node{n, index}, At: n.At}, true, nil
}

// extended returns a path with one more part, or the part of another node.
func extended(n *Node, text, name string) *Node {
	if n.Kind != Path {
		return &Node{Kind: Part, Name: n.label() + name, Args: []*Node{n}, At: n.At}
	}
	n.Text, n.Name = n.Text+text, n.Name+name
	return n
}

// label returns the name of a node of which a part is read.
func (n *Node) label() string {
	switch n.Kind {
	case Function:
		return n.Name + "()"
	case Operator:
		return "(" + n.Text + ")"
	case Literal, Word, Path, Part:
	}
	return n.Name
}

// arguments reads the arguments of a call up to the closing bracket.
func (p *parser) arguments(n *Node) error {
	if _, closed := p.sign(")"); closed {
		return nil
	}
	for {
		arg, err := p.either()
		if err != nil {
			return err
		}
		n.Args = append(n.Args, arg)
		if _, closed := p.sign(")"); closed {
			return nil
		}
		if _, more := p.sign(","); !more {
			return errSyntax
		}
	}
}
