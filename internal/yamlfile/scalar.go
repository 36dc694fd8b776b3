package yamlfile

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/duration"
)

// setScalar decodes into a string, a boolean or a number. It returns what it wants when
// the node is something else, and otherwise "".
func setScalar(n *yaml.Node, v reflect.Value) (want string) {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode {
		tag = ""
	}
	switch v.Kind() {
	case reflect.String:
		if tag != "!!str" {
			return wantString
		}
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if tag != "!!bool" || n.Decode(&b) != nil {
			return "true or false"
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		var i int64
		if tag != "!!int" || n.Decode(&i) != nil || v.OverflowInt(i) {
			return "a whole number"
		}
		v.SetInt(i)
	case reflect.Float64:
		var x float64
		if tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return "a number"
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("yamlfile: cannot decode into %s", v.Type()))
	}
	return ""
}

const wantString = "a string"

// setDuration decodes into a [time.Duration]. It returns the message about a wrong node,
// and otherwise "".
func setDuration(n *yaml.Node, v reflect.Value) (msg string) {
	d, err := duration.Parse(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil && !errors.Is(err, duration.ErrTooLong):
		return wrongType(n, `a duration such as "90s", "1h30m" or "14d"`)
	case err != nil:
		return fmt.Sprintf("%v, got %s", err, kind(n))
	}
	v.SetInt(int64(d))
	return ""
}

// wrongType is the message that a node is not what is wanted.
func wrongType(n *yaml.Node, want string) string {
	hint := ""
	if want == wantString && n.Kind == yaml.ScalarNode {
		hint = "; quote it"
	}
	return fmt.Sprintf("want %s, got %s%s", want, kind(n), hint)
}

// Kind describes the value of n for messages, such as "a list" or "the number 3".
func Kind(n *yaml.Node) string { return kind(n) }

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return n.Value
	case "!!int", "!!float":
		return "the number " + short(n.Value)
	case "!!timestamp":
		return "the date " + short(n.Value)
	}
	return fmt.Sprintf("the text %q", short(n.Value))
}

// short cuts a value that is only quoted to be recognised.
func short(s string) string {
	const most = 40
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
