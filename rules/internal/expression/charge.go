package expression

import (
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// charge inserts calls that charge the meter into a typed tree: around each operation that makes
// text and, inside of loops, around values of any length that are read.
func charge(place *ast.Node, loop bool) {
	n := *place
	if n == nil {
		return
	}
	if _, ok := n.(*ast.PredicateNode); ok {
		loop = true
	}
	reads := loop && readsOperands(n)
	for _, c := range syntax.Children(n) {
		charge(c, loop)
		if reads && *c != nil && sized(*c) {
			*c = wrap("__pay", *c)
		}
	}
	compared, counted := compareAge(n), countCharacters(n)
	switch {
	case compared != nil:
		*place = compared
	case counted != nil:
		*place = counted
	case makesText(n):
		*place = wrap("__made", n)
	case changesCase(n):
		b := n.(*ast.BuiltinNode)
		*place = replaced("__"+b.Name, n, reflect.TypeFor[func(*run, string) string](), b.Arguments[0])
	case measuresText(n):
		*place = replaced("__len", n, reflect.TypeFor[func(*run, string) int](), n.(*ast.BuiltinNode).Arguments[0])
	}
}

// readsOperands reports whether a node's work grows with its operands.
func readsOperands(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||", "??", "..":
			return false
		}
		return true
	case *ast.BuiltinNode:
		if changesCase(n) {
			return false // charged when the text is made
		}
		// A loop charges for each of its iterations.
		return !slices.ContainsFunc(n.Arguments, func(a ast.Node) bool {
			_, ok := a.(*ast.PredicateNode)
			return ok
		})
	}
	return false
}

// sized reports whether the size of n's value is not limited by its type.
func sized(n ast.Node) bool {
	switch n.(type) {
	case *ast.PredicateNode, *ast.StringNode, *ast.ConstantNode, *ast.ArrayNode, *ast.MapNode:
		return false
	}
	switch n.Type().Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func makesText(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "+" {
		return false
	}
	kind := n.Type().Kind()
	return kind == reflect.String || kind == reflect.Interface
}

// changesCase reports whether n is a call of lower or upper.
func changesCase(n ast.Node) bool {
	b, ok := n.(*ast.BuiltinNode)
	return ok && (b.Name == "lower" || b.Name == "upper") && len(b.Arguments) == 1
}

// measuresText reports whether n is len(text). The run counts the characters of a text only once.
func measuresText(n ast.Node) bool {
	b, ok := n.(*ast.BuiltinNode)
	return ok && b.Name == "len" && len(b.Arguments) == 1 && b.Arguments[0].Type().Kind() == reflect.String
}

// countCharacters returns a call that replaces a slice, an index or a search whose offsets count
// bytes in the language of expr, or nil for other nodes. The tree must be typed.
func countCharacters(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.SliceNode:
		if !mayBeText(n.Node) {
			return nil
		}
		from, to := n.From, n.To
		if from == nil {
			from = integer(0, n)
		}
		if to == nil {
			to = integer(math.MaxInt, n)
		}
		return replaced("__slice", n, reflect.TypeFor[func(*run, any, any, any) any](), n.Node, from, to)
	case *ast.MemberNode:
		// The checker rejects an index into a value that is certainly a text.
		if kind := n.Property.Type().Kind(); n.Optional || kind == reflect.String || !mayBeText(n.Node) {
			return nil
		}
		return replaced("__item", n, reflect.TypeFor[func(*run, any, any) any](), n.Node, n.Property)
	case *ast.BuiltinNode:
		if n.Name != "indexOf" && n.Name != "lastIndexOf" || len(n.Arguments) != 2 {
			return nil
		}
		return replaced("__"+n.Name, n, reflect.TypeFor[func(*run, string, string) int](), n.Arguments...)
	}
	return nil
}

// mayBeText reports whether the value of a typed node may be a text.
func mayBeText(n ast.Node) bool {
	kind := n.Type().Kind()
	return kind == reflect.String || kind == reflect.Interface
}

// integer returns a literal number at the place of a node.
func integer(value int, where ast.Node) ast.Node {
	n := at(&ast.IntegerNode{Value: value}, where)
	n.SetType(reflect.TypeFor[int]())
	return n
}

var wrapperType = reflect.TypeFor[func(*run, any) any]()

// wrap returns n inside a call that charges and returns n's value. The call has the type of n.
func wrap(name string, n ast.Node) ast.Node { return replaced(name, n, wrapperType, n) }

// replaced returns a call of a function of type fn. The call has the place and the type of n.
func replaced(name string, n ast.Node, fn reflect.Type, args ...ast.Node) ast.Node {
	c := call(name, n, args...).(*ast.CallNode)
	c.Callee.SetType(fn)
	c.Arguments[0].SetType(reflect.TypeFor[*run]())
	c.SetNature(*n.Nature())
	return c
}

// fromEnd returns the call that computes the index of an item from its index in the reversed list.
func fromEnd(index, list ast.Node) ast.Node {
	return replaced("__from_end", index, reflect.TypeFor[func(*run, any, any) any](), index, list)
}

// compareMissing returns the call that replaces a comparison of values that may be missing.
func compareMissing(n ast.Node, operator string, left, right ast.Node) ast.Node {
	op := at(&ast.StringNode{Value: operator}, n)
	op.SetType(reflect.TypeFor[string]())
	c := replaced("__compare", n, reflect.TypeFor[func(*run, string, any, any) bool](), op, left, right)
	c.SetType(reflect.TypeFor[bool]())
	return c
}

// compareAge returns a call that replaces a comparison of idle() or label_age() with another
// duration, or nil for other nodes. The call does not read the timeline if the issue's own times
// decide the comparison. The tree must be typed.
func compareAge(n ast.Node) ast.Node {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	mirrored, ordered := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[b.Operator]
	left, right := ageCall(b.Left), ageCall(b.Right)
	age, operator, than := left, b.Operator, b.Right
	if right != nil {
		age, operator, than = right, mirrored, b.Left
	}
	if !ordered || (left == nil) == (right == nil) || than.Type() != reflect.TypeFor[time.Duration]() {
		return nil
	}
	op := at(&ast.StringNode{Value: operator}, n)
	op.SetType(reflect.TypeFor[string]())
	name, typ := "__idle_is", reflect.TypeFor[func(*run, string, time.Duration) bool]()
	if len(age.Arguments) > 1 { // the argument of idle("bots") or label_age(name)
		typ = reflect.TypeFor[func(*run, string, string, time.Duration) bool]()
	}
	if f, ok := age.Callee.(*ast.IdentifierNode); ok && f.Value == "label_age" {
		name = "__label_age_is"
	}
	c, _ := call(name, age, slices.Concat([]ast.Node{op}, age.Arguments[1:], []ast.Node{than})...).(*ast.CallNode)
	c.Callee.SetType(typ)
	c.Arguments[0].SetType(reflect.TypeFor[*run]())
	c.SetNature(*n.Nature())
	return c
}

// ageCall returns n if it is a call of idle() or label_age(), else nil.
func ageCall(n ast.Node) *ast.CallNode {
	c, ok := n.(*ast.CallNode)
	if !ok {
		return nil
	}
	if f, ok := c.Callee.(*ast.IdentifierNode); !ok || f.Value != "idle" && f.Value != "label_age" {
		return nil
	}
	return c
}
