package rules

import (
	"fmt"
	"math"
	"strconv"
)

// The functions that stand for form.name in a patched tree.

func formTextOf(args ...any) (any, error) { return formOf(args).text, nil }

func formNumberOf(args ...any) (any, error) { return formOf(args).number, nil }

func formListOf(args ...any) (any, error) { return formOf(args).list, nil }

// formIsNil is what a comparison with nil asks.
func formIsNil(args ...any) (any, error) { return formOf(args).absent, nil }

// formAny is the value of a field that is shown: nil when it is.
func formAny(args ...any) (any, error) {
	v := formOf(args)
	switch {
	case v.absent:
		return nil, nil
	case v.list != nil:
		return v.list, nil
	case arg[*formField](args, 1).typ == formNumber:
		return v.number, nil
	}
	return v.text, nil
}

func formOf(args []any) formValue { return arg[*run](args, 0).forms.value(arg[*formField](args, 1)) }

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
