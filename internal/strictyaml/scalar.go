package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/duration"
)

// scalar decodes into a string, a boolean or a number.
func (f *File) scalar(n *yaml.Node, v reflect.Value, to target) {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode {
		tag = ""
	}
	switch v.Kind() {
	case reflect.String:
		if tag != "!!str" {
			f.wrongType(n, to, "a string")
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if tag != "!!bool" || n.Decode(&b) != nil {
			f.wrongType(n, to, "true or false")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		var i int64
		if tag != "!!int" || n.Decode(&i) != nil || v.OverflowInt(i) {
			f.wrongType(n, to, "a whole number")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		var x float64
		if tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			f.wrongType(n, to, "a number")
			return
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("strictyaml: cannot decode into %s", v.Type()))
	}
}

func (f *File) duration(n *yaml.Node, v reflect.Value, to target) {
	d, err := duration.Parse(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil && !errors.Is(err, duration.ErrTooLong):
		f.wrongType(n, to, `a duration such as "90s", "1h30m" or "14d"`)
		return
	case err != nil:
		f.Problemf(n, "%s%v, got %s", to.prefix(), err, kind(n))
		return
	}
	v.SetInt(int64(d))
}

func (f *File) wrongType(n *yaml.Node, to target, want string) {
	hint := ""
	if want == "a string" && n.Kind == yaml.ScalarNode {
		hint = "; quote it"
	}
	f.Problemf(n, "%swant %s, got %s%s", to.prefix(), want, kind(n), hint)
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
