package expression

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
)

// compareAge returns a call in place of the comparison of idle() or label_age() with another
// duration: it is made without the past where the issue's own times decide it. It is nil for
// other nodes. The types of the tree are known.
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
	if len(age.Arguments) > 1 {
		name, typ = "__label_age_is", reflect.TypeFor[func(*run, string, string, time.Duration) bool]()
	}
	c := call(name, age, slices.Concat([]ast.Node{op}, age.Arguments[1:], []ast.Node{than})...).(*ast.CallNode)
	c.Callee.SetType(typ)
	c.Arguments[0].SetType(reflect.TypeFor[*run]())
	c.SetNature(*n.Nature())
	return c
}

// ageCall returns a node that is a call of idle() or label_age(); else nil.
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

// idleIs compares idle() with a duration.
func idleIs(args ...any) (any, error) {
	r, op, than := arg[*run](args, 0), arg[string](args, 1), arg[time.Duration](args, 2)
	if holds, sure := r.byTimes(op, than); sure {
		return holds, nil
	}
	return compared(op, than)(idle(r))
}

// labelAgeIs compares label_age(name) with a duration.
func labelAgeIs(args ...any) (any, error) {
	r, op, name, than := arg[*run](args, 0), arg[string](args, 1), arg[string](args, 2), arg[time.Duration](args, 3)
	if there := slices.ContainsFunc(r.facts.Issue.Labels, func(l string) bool { return strings.EqualFold(l, name) }); there {
		if holds, sure := r.byTimes(op, than); sure {
			return holds, nil
		}
	}
	return compared(op, than)(labelAge(r, name))
}

// byTimes compares the time since something happened on the issue with a duration: it was not
// before the issue was opened, and not after it changed last.
func (r *run) byTimes(op string, than time.Duration) (holds, sure bool) {
	i := r.facts.Issue
	if !r.facts.ByTimes || r.facts.Now.IsZero() || i.CreatedAt.IsZero() || i.UpdatedAt.Before(i.CreatedAt) {
		return false, false
	}
	least, most := max(0, r.facts.Now.Sub(i.UpdatedAt)), max(0, r.facts.Now.Sub(i.CreatedAt))
	holds = ordered(op, least, than)
	return holds, holds == ordered(op, most, than)
}

// compared returns the comparison of a duration that may be an error.
func compared(op string, than time.Duration) func(age any, err error) (any, error) {
	return func(age any, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		d, _ := age.(time.Duration)
		return ordered(op, d, than), nil
	}
}

// ordered reports whether a op b.
func ordered(op string, a, b time.Duration) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}
