package schema

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/yamlfile"
)

// OneOf permits the given texts.
func OneOf(words ...string) Rule {
	return Rule{Object{"enum": words}, func(v Value) {
		if got := v.Go.String(); !slices.Contains(words, got) {
			v.want(strings.Join(words, " or "), yamlfile.DidYouMean(got, words))
		}
	}}
}

// Between permits whole numbers from one bound to the other, including both.
func Between(from, to int) Rule {
	return Rule{Object{"minimum": from, "maximum": to}, func(v Value) {
		if i := v.Go.Int(); i < int64(from) || i > int64(to) {
			v.want(fmt.Sprintf("%d to %d", from, to), "")
		}
	}}
}

// Positive permits numbers and durations greater than 0.
func Positive() Rule {
	return Rule{nil, func(v Value) {
		if sign(v.Go) <= 0 {
			v.Problemf("want more than 0")
		}
	}}
}

// ZeroOrMore permits numbers and durations of at least 0; 0 means no limit.
func ZeroOrMore() Rule {
	return Rule{nil, func(v Value) {
		if sign(v.Go) < 0 {
			v.Problemf("want more than 0, or 0 for no limit")
		}
	}}
}

// Days permits durations from one number of days to another, including both.
func Days(from, to int) Rule {
	const day = 24 * time.Hour
	return Rule{nil, func(v Value) {
		if d := time.Duration(v.Go.Int()); d < time.Duration(from)*day || d > time.Duration(to)*day {
			v.Problemf("want %dd to %dd", from, to)
		}
	}}
}

// Text permits the texts for which fits is true. what describes them in the error.
func Text(what string, fits func(string) bool) Rule {
	return Rule{nil, func(v Value) {
		if !fits(v.Go.String()) {
			v.Problemf("want %s", what)
		}
	}}
}

// Globs permits lists of globs in the syntax of [path.Match].
func Globs() Rule {
	return Rule{nil, func(v Value) {
		for i := range v.Go.Len() {
			g := v.Go.Index(i).String()
			if _, err := path.Match(g, ""); err != nil || g == "" {
				v.Problemf("%q is not a glob", g)
			}
		}
	}}
}

// LabelPatterns permits lists of names of labels, in which "*" may stand for any characters.
func LabelPatterns() Rule {
	return Each(Rule{Object{"type": "string", "minLength": 1}, func(v Value) {
		if v.Go.String() == "" {
			v.Problemf(`want the name of a label, or a pattern with "*"`)
		}
	}})
}

// Each permits lists all of whose items the rule permits.
func Each(rule Rule) Rule {
	var json Object
	if rule.JSON != nil {
		json = Object{"items": rule.JSON}
	}
	return Rule{json, func(v Value) {
		list := v
		for i, n := range list.Node.Content {
			if !list.checker.wrongAt(n) {
				v.Node, v.Go = n, list.Go.Index(i)
				rule.Check(v)
			}
		}
	}}
}

// sign returns whether a number is less than 0, 0 or more, as -1, 0 or 1.
func sign(v reflect.Value) int {
	switch {
	case v.CanFloat() && v.Float() < 0, v.CanInt() && v.Int() < 0:
		return -1
	case v.IsZero():
		return 0
	}
	return 1
}

// quote returns a value as messages show it.
func quote(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	return fmt.Sprint(v)
}
