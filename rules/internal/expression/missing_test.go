package expression

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// FuzzMissing compares the value of an expression with that of expr alone, which knows no missing
// values. Where expr alone has a value, ours is the same, unless it is unknown.
func FuzzMissing(f *testing.F) {
	for _, src := range []string{
		`first(issue.labels) == "a" and last(issue.labels) != "a"`,
		`find(issue.labels, # > "a") in ["B", ""] or findIndex(issue.labels, # == "B") >= 1`,
		`map(issue.labels, let l = first([#]); l startsWith "a" ? lower(l) : upper(l))`,
		`find(issue.labels, # == "zz") != "a" and find(issue.labels, # == "zz") == nil`,
		`[first(["ab"]) startsWith "a", first(["ab"]) endsWith "b", first(["ab"]) contains "b", first(["ab"]) in ["ab"]]`,
		`[first([1]) < 2, first([1]) <= 1, first([1]) > 2, first([1]) >= 1, first([1]) in 1..2, "a" in first([{"a": 1}])]`,
		`len(issue.labels[0]) + len(first(issue.labels)) - len(issue.labels[1:])`,
		`filter([1, nil, 2], # != nil) == [1, 2] or sort(issue.labels)[0] < "b"`,
		`trimPrefix(first(issue.labels) ?? "x", "a") + string(max(1, 2)) contains "2"`,
		`form.version == nil and (form.count ?? 0) < 1 and "CLI" in form.area`,
		`tables.area_of[first(form.area)] matches "^area/" or any(form.area, # not in tables.area_of)`,
		`reverse(uniq(take(issue.labels, 2))) == ["B", "a"] and sum(map(issue.labels, len(#))) == 2`,
		`let l = issue.locked ? nil : first(issue.labels); l == "a" and l endsWith "a"`,
	} {
		f.Add(src, "### Version\n\n1.2\n\n### Affected area\n\nCLI, a")
		f.Add(src, "")
	}
	names := mustDeclare(f)
	f.Fuzz(func(t *testing.T, src, body string) {
		c := NewCompiler(names)
		plain, err := c.plain(src)
		if err != nil || strings.Contains(src, "findLast") { // the backward loops of expr leave values on the stack
			return
		}
		tolerant, err := c.compile(src, Any)
		if err != nil {
			t.Fatalf("%q: expr alone compiles it: %v", src, err)
		}
		v := NewEvaluation(t.Context(), facts.Facts{Issue: triage.Issue{Number: 1, Title: "t", Body: body, Labels: []string{"a", "B"}}})
		want, err := eval(&v.machine, plain, v.env)
		if err != nil {
			return // a missing value, or another mistake
		}
		got, err := eval(&v.machine, tolerant, v.env)
		if _, unknown := errors.AsType[*facts.UnknownError](err); unknown {
			return
		}
		if number, ok := got.(float64); ok && math.IsNaN(number) {
			got, want = fmt.Sprint(got), fmt.Sprint(want) // NaN differs from itself
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, %v, want %#v", src, got, err, want)
		}
	})
}

// plain compiles an expression without tolerance for missing values.
func (c *Compiler) plain(src string) (*vm.Program, error) {
	x, err := c.check(src, Any)
	switch {
	case err != nil:
		return nil, err
	case x.tree == nil:
		return nil, errors.New("it is compiled already")
	}
	charge(&x.tree.Node, false)
	if err := optimizer.Optimize(&x.tree.Node, c.builder.config); err != nil {
		return nil, err
	}
	return compiler.Compile(x.tree, c.builder.config)
}
