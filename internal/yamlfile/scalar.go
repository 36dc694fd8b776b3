package yamlfile

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/duration"
)

// scalar decodes a string, a boolean, a number, a duration or a date.
func (d Decoder) scalar(n *yaml.Node, v reflect.Value, to target) {
	if v.Type() == d.Secret && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str" {
		d.File.Problemf(n, "%swant a string; quote it", to.prefix())
		return
	}
	out := *n
	if d.Variables != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		vars := *d.Variables
		if v.Type() == d.Secret {
			vars.Reserved = nil
		}
		text, problems := vars.Expand(n.Value)
		for _, p := range problems {
			d.File.Problemf(n, "%s", p)
		}
		if len(problems) > 0 {
			return
		}
		out.Tag, out.Value = "!!str", text
	}
	resolved := out.Value != n.Value
	if d.Lenient {
		spelled(&out, v)
	}
	err := setScalar(&out, v)
	switch {
	case err == nil:
	case resolved: // no value, because it may be a secret
		d.File.Problemf(n, "%swant %s, but the values of its variables have another type", to.prefix(), wanted(v))
	case errors.Is(err, duration.ErrTooLong):
		d.File.Problemf(n, "%s%v, got %s", to.prefix(), err, Kind(n))
	default:
		d.File.Problemf(n, "%s%s", to.prefix(), wrongType(n, v))
	}
}

// spelled gives n the type of v if n is a text that is valid for this type, such as "8" for an int.
func spelled(n *yaml.Node, v reflect.Value) {
	text, tag := strings.TrimSpace(n.Value), ""
	switch v.Kind() {
	case reflect.Bool: // also accepts 1 and 0
		switch strings.ToLower(text) {
		case "true", "t", "yes", "y", "on", "1":
			tag, text = "!!bool", "true"
		case "false", "f", "no", "n", "off", "0":
			tag, text = "!!bool", "false"
		}
	case reflect.Float64:
		if _, err := strconv.ParseFloat(text, 64); err == nil && n.ShortTag() == "!!str" {
			tag = "!!float"
		}
	case reflect.Int, reflect.Int64:
		if v.Type() == durationType {
			n.Value = text
		} else if i, err := strconv.ParseInt(text, 10, 64); err == nil && n.ShortTag() == "!!str" {
			tag, text = "!!int", strconv.FormatInt(i, 10)
		}
	}
	if tag != "" {
		n.Tag, n.Value = tag, text
	}
}

var errWrongType = errors.New("wrong type")

// setScalar decodes a node into v. The error is errWrongType or [duration.ErrTooLong].
func setScalar(n *yaml.Node, v reflect.Value) error {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode {
		tag = ""
	}
	switch v.Type() {
	case durationType:
		return setDuration(n, v)
	case timeType:
		t, err := time.Parse(time.DateOnly, n.Value)
		if err != nil || tag != "!!timestamp" && tag != "!!str" {
			return errWrongType
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		if tag != "!!str" {
			return errWrongType
		}
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if tag != "!!bool" || n.Decode(&b) != nil {
			return errWrongType
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		var i int64
		if tag != "!!int" || n.Decode(&i) != nil || v.OverflowInt(i) {
			return errWrongType
		}
		v.SetInt(i)
	case reflect.Float64:
		var x float64
		if tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return errWrongType
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("yamlfile: cannot decode into %s", v.Type()))
	}
	return nil
}

func setDuration(n *yaml.Node, v reflect.Value) error {
	if n.Kind != yaml.ScalarNode {
		return errWrongType
	}
	d, err := duration.Parse(n.Value)
	if err != nil && !errors.Is(err, duration.ErrTooLong) {
		return errWrongType
	}
	v.Set(reflect.ValueOf(d))
	return err
}

// wanted describes the values of a type.
func wanted(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return "a duration"
	case v.Type() == timeType:
		return "a date"
	case v.Kind() == reflect.String:
		return "a string"
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.Kind() == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// wrongType returns the message for a node of the wrong type.
func wrongType(n *yaml.Node, v reflect.Value) string {
	example, hint := "", ""
	switch {
	case v.Type() == durationType:
		example = ` such as "90s", "1h30m" or "14d"`
	case v.Type() == timeType:
		example = " such as 2026-11-27"
	case v.Kind() == reflect.String && n.Kind == yaml.ScalarNode:
		hint = "; quote it"
	}
	return fmt.Sprintf("want %s%s, got %s%s", wanted(v), example, Kind(n), hint)
}

// Kind describes the value of n for messages, such as "a list" or "the number 3".
func Kind(n *yaml.Node) string {
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

// short shortens a value in a message, where people only need to recognize it.
func short(s string) string {
	const most = 40
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
