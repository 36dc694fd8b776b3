package ghexpr

import (
	"errors"
	"slices"
	"strings"
)

// A node is a node of the syntax tree of an expression.
type node struct {
	kind kind
	text string // a literal, an operator, or a path or function in lower case
	name string // a path or function as written in the source
	args []*node
	at   int // offset in the source, in characters
}

type kind int

const (
	literal  kind = iota // a text
	word                 // true, false, null or a number
	path                 // such as github.event.action
	function             // a call
	operator             // with one or two operands
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
	kind kind // operator also for brackets and commas, path for names
	text string
	name string // as written in the source
	at   int
}

// parse parses an expression; ok is false if GitHub would refuse it, or if it is too long.
func parse(src string) (n *node, ok bool) {
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

// scan splits an expression into tokens. It ignores "${{" and "}}" around the whole expression.
func scan(src string) (list []token, ok bool) {
	for i := 0; i < len(src); {
		c := src[i]
		at := len([]rune(src[:i]))
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case strings.HasPrefix(src[i:], "${{"):
			i += len("${{")
		case strings.HasPrefix(src[i:], "}}"):
			i += len("}}")
		case c == '\'':
			text, n := quoted(src[i:])
			if n == 0 {
				return nil, false
			}
			list, i = append(list, token{kind: literal, text: text, at: at}), i+n
		case nameLetter(c):
			n := 1
			for i+n < len(src) && nameLetter(src[i+n]) {
				n++
			}
			name := src[i : i+n]
			list, i = append(list, token{path, strings.ToLower(name), name, at}), i+n
		default:
			sign := src[i : i+1]
			if i+2 <= len(src) && slices.Contains(signs, src[i:i+2]) {
				sign = src[i : i+2]
			}
			if !slices.Contains(signs, sign) {
				return nil, false
			}
			list, i = append(list, token{kind: operator, text: sign, at: at}), i+len(sign)
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
	if len(p.tokens) == 0 || p.tokens[0].kind != operator {
		return token{}, false
	}
	for _, s := range signs {
		if t = p.tokens[0]; t.text == s {
			p.tokens = p.tokens[1:]
			return t, true
		}
	}
	return token{}, false
}

func (p *parser) either() (*node, error) { return p.chain("||", p.both) }
func (p *parser) both() (*node, error)   { return p.chain("&&", p.compared) }

// chain reads operands that are joined by one operator.
func (p *parser) chain(op string, operand func() (*node, error)) (*node, error) {
	n, err := operand()
	if err != nil {
		return nil, err
	}
	if t, ok := p.sign(op); ok {
		n = &node{kind: operator, text: t.text, args: []*node{n}, at: n.at}
		for ok {
			next, err := operand()
			if err != nil {
				return nil, err
			}
			n.args = append(n.args, next)
			_, ok = p.sign(op)
		}
	}
	return n, nil
}

func (p *parser) compared() (*node, error) {
	n, err := p.single()
	if err != nil {
		return nil, err
	}
	t, ok := p.sign("==", "!=", "<=", ">=", "<", ">")
	if !ok {
		return n, nil
	}
	right, err := p.single()
	if err != nil {
		return nil, err
	}
	return &node{kind: operator, text: t.text, args: []*node{n, right}, at: n.at}, nil
}

// single reads a negation, brackets, a call, a path or a literal.
func (p *parser) single() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	if t, ok := p.sign("!"); ok {
		n, err := p.single()
		return &node{kind: operator, text: "!", args: []*node{n}, at: t.at}, err
	}
	if _, ok := p.sign("("); ok {
		n, err := p.either()
		if _, closed := p.sign(")"); err == nil && !closed {
			err = errSyntax
		}
		return n, err
	}
	if len(p.tokens) == 0 || p.tokens[0].kind == operator {
		return nil, errSyntax
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	n := &node{kind: t.kind, text: t.text, name: t.name, at: t.at}
	if t.kind == literal {
		return n, nil
	}
	if _, call := p.sign("("); call {
		n.kind = function
		return n, p.arguments(n)
	}
	if t.text == "true" || t.text == "false" || t.text == "null" || t.text[0] == '-' || t.text[0] >= '0' && t.text[0] <= '9' {
		n.kind = word
	}
	return p.indexed(n)
}

// indexed reads the index in brackets after a path: a name is a part of the path.
func (p *parser) indexed(n *node) (*node, error) {
	for {
		if _, open := p.sign("["); !open {
			return n, nil
		}
		if len(p.tokens) == 0 || n.kind != path {
			return nil, errSyntax
		}
		n.text += "." + strings.ToLower(p.tokens[0].text)
		n.name += "." + p.tokens[0].text
		p.tokens = p.tokens[1:]
		if _, closed := p.sign("]"); !closed {
			return nil, errSyntax
		}
		if len(p.tokens) > 0 && p.tokens[0].kind == path && strings.HasPrefix(p.tokens[0].text, ".") {
			n.text += p.tokens[0].text
			n.name += p.tokens[0].name
			p.tokens = p.tokens[1:]
		}
	}
}

// arguments reads the arguments of a call up to the closing bracket.
func (p *parser) arguments(n *node) error {
	if _, closed := p.sign(")"); closed {
		return nil
	}
	for {
		arg, err := p.either()
		if err != nil {
			return err
		}
		n.args = append(n.args, arg)
		if _, closed := p.sign(")"); closed {
			return nil
		}
		if _, more := p.sign(","); !more {
			return errSyntax
		}
	}
}
