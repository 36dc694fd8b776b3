package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// TrueParts returns the parts that make a condition true, in their order and as the file has them, each
// in one line. The condition must be true. All operands of "and" are parts, and of "or" the true ones;
// anything else is one part. It returns none if they cannot be determined.
//
// No look-up is made and no function of the program is called for an operand of "or" that the
// evaluation did not reach: such an operand is left out. Parts contain only text of the file.
func (e *Explainer) TrueParts(x *Expression) []string {
	tree, err := x.parse()
	if err != nil || !e.prepare(x) {
		return nil
	}
	tokens, err := lexer.Lex(tree.Source)
	if err != nil {
		return nil
	}
	r := reasons{explainer: e, source: []rune(x.src), tokens: tokens[:len(tokens)-1]} // without the end of the text
	r.walk(tree.Node, 0, len(r.tokens))
	return r.parts
}

// reasons collects the parts that make a condition true. A part of the condition is a node and the
// range of its tokens, because a node does not contain its whole place in the text.
type reasons struct {
	explainer *Explainer
	source    []rune
	tokens    []lexer.Token
	parts     []string
}

// walk collects the parts of a node that is true.
func (r *reasons) walk(n ast.Node, from, to int) {
	outer := from
	from, to = r.unwrap(from, to)
	b, at, by := r.split(n, from, to)
	switch by {
	case "and":
		r.walk(b.Left, from, at)
		r.walk(b.Right, at+1, to)
	case "or":
		r.or(n, from, to, false)
	default:
		if declares(n) && outer < from { // its ";" would look like the end of the part
			from, to = from-1, to+1
		}
		r.parts = append(r.parts, r.text(from, to))
	}
}

// or collects the true operands of a chain of "or". found is true if an earlier operand is true, so that
// the evaluation did not reach this one. The result is found for the next operand.
func (r *reasons) or(n ast.Node, from, to int, found bool) bool {
	outer, end := from, to
	from, to = r.unwrap(from, to)
	if b, at, by := r.split(n, from, to); by == "or" {
		found = r.or(b.Left, from, at, found)
		return r.or(b.Right, at+1, to, found)
	}
	if !r.explainer.holds(n, string(r.source[r.tokens[from].From:r.tokens[to-1].To]), found) {
		return found
	}
	r.walk(n, outer, end)
	return true
}

// split returns the node of an operator "and" or "or", and the index of its token. by is empty for any
// other node, and for the "and" that stands for a chain of comparisons such as 1 < x < 5.
func (r *reasons) split(n ast.Node, from, to int) (b *ast.BinaryNode, at int, by string) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || syntax.JoinedBy(b.Operator) == "" {
		return nil, 0, ""
	}
	at = slices.IndexFunc(r.tokens, func(t lexer.Token) bool { return t.Location == b.Location() })
	if at <= from || at >= to-1 {
		return nil, 0, ""
	}
	return b, at, syntax.JoinedBy(r.tokens[at].Value)
}

// unwrap returns the range without the brackets around all of it.
func (r *reasons) unwrap(from, to int) (int, int) {
	for to-from > 2 && r.tokens[from].Is(lexer.Bracket, "(") && r.closing(from) == to-1 {
		from, to = from+1, to-1
	}
	return from, to
}

// closing returns the index of the bracket that closes the one at open.
func (r *reasons) closing(open int) int {
	depth := 0
	for i := open; i < len(r.tokens); i++ {
		switch {
		case r.tokens[i].Is(lexer.Bracket, "(", "[", "{"):
			depth++
		case r.tokens[i].Is(lexer.Bracket, ")", "]", "}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// text returns a range of the source in one line, without comments.
func (r *reasons) text(from, to int) string {
	var b strings.Builder
	for i, t := range r.tokens[from:to] {
		if i > 0 && r.tokens[from+i-1].To < t.From {
			b.WriteByte(' ')
		}
		b.WriteString(string(r.source[t.From:t.To]))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// holds reports whether a part is true; src is its text. idle means that the evaluation did not reach
// the part. Then holds makes no look-up and calls no function of the program; a part that needs one counts
// as false.
func (e *Explainer) holds(n ast.Node, src string, idle bool) bool {
	if e.evaluated >= maxEvaluated || idle && e.calls(n) {
		return false
	}
	if f := e.evaluation.Facts(); idle && f.Lookup != nil {
		defer func(l facts.Lookup) { f.Lookup = l }(f.Lookup)
		f.Lookup = nil
	}
	w := e.text(src)
	if len(w.Missing) > 0 && !declares(n) { // some parts can be enough to decide it
		w = e.node(n)
	}
	return w.Value == "true"
}

// calls reports whether a part calls a function of the program.
func (e *Explainer) calls(n ast.Node) bool {
	if call, ok := n.(*ast.CallNode); ok {
		if callee, ok := call.Callee.(*ast.IdentifierNode); ok {
			if _, own := e.names.Funcs[callee.Value]; own {
				return true
			}
		}
	}
	return slices.ContainsFunc(syntax.Children(n), func(c *ast.Node) bool { return *c != nil && e.calls(*c) })
}
