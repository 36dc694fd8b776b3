package rules

import (
	"fmt"
	"github.com/org/foreman-action/rules/internal/forms"
	"math"
	"strconv"
)

// The functions that stand for form.name in a patched tree.

func formTextOf(args ...any) (any, error) { return formOf(args).Text, nil }

func formNumberOf(args ...any) (any, error) { return formOf(args).Number, nil }

func formListOf(args ...any) (any, error) { return formOf(args).List, nil }

// formIsNil is what a comparison with nil asks.
func formIsNil(args ...any) (any, error) { return formOf(args).Absent, nil }

// formAny is the value of a field that is shown: nil when it is.
func formAny(args ...any) (any, error) {
	v := formOf(args)
	switch {
	case v.Absent:
		return nil, nil
	case v.List != nil:
		return v.List, nil
	case arg[*forms.Field](args, 1).Type == forms.Number:
		return v.Number, nil
	}
	return v.Text, nil
}

func formOf(args []any) forms.Value {
	return arg[*run](args, 0).forms.Value(arg[*forms.Field](args, 1))
}

// shownInText is a value in a template. A number that was not filled in is nothing.
func shownInText(value any) string {
	if n, ok := value.(float64); ok {
		if math.IsNaN(n) {
			return ""
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
