package settings

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

const day = 24 * time.Hour

// expand returns the document with its variables resolved, outside of the sections of a
// runner, which resolves them itself. A text that is a number or says yes or no stands
// for what it says where one is wanted, as in published files.
func (l *loading) expand(f *yamlfile.File, root *yaml.Node) *yaml.Node {
	return expander{f, l.Lookup}.node(root, reflect.TypeFor[document](), "")
}

type expander struct {
	f      *yamlfile.File
	lookup func(string) (string, bool)
}

// node returns n as it is to be decoded into t.
func (x expander) node(n *yaml.Node, t reflect.Type, path string) *yaml.Node {
	switch {
	case t == reflect.TypeFor[*yaml.Node]():
		if path == "config" {
			return x.texts(n)
		}
		return n
	case t.Kind() == reflect.Pointer:
		return x.node(n, t.Elem(), path)
	case n.Kind == yaml.ScalarNode:
		return x.scalar(n, t, path)
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		return x.structure(n, t)
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		return x.each(n, func(item *yaml.Node) *yaml.Node { return x.node(item, t.Elem(), path) })
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		return x.values(n, func(key string, v *yaml.Node) *yaml.Node { return x.node(v, t.Elem(), key) })
	}
	return n
}

// structure expands the values of known keys; a null where nothing may stand is left out.
func (x expander) structure(n *yaml.Node, t reflect.Type) *yaml.Node {
	out := *n
	out.Content = nil
	for k, v := range pairs(n) {
		for field := range t.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != k.Value || name == "-" {
				continue
			}
			if v.ShortTag() == "!!null" && field.Tag.Get("nullable") != "" {
				v = nil
				break
			}
			if v = x.node(v, field.Type, k.Value); v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" && compound(field) != "" {
				// The decoder would show the text, and a secret may have slipped in here.
				x.f.Problemf(v, "%s: want %s", k.Value, compound(field))
				v = nil
			}
			break
		}
		if v != nil {
			out.Content = append(out.Content, k, v)
		}
	}
	return &out
}

// compound says what a field takes when that is no single value.
func compound(field reflect.StructField) string {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[yaml.Node]():
		return ""
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "a mapping"
	case t.Kind() == reflect.Slice:
		return "a list"
	}
	return ""
}

// texts expands every text in a free-form value.
func (x expander) texts(n *yaml.Node) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		return x.values(n, func(_ string, v *yaml.Node) *yaml.Node { return x.texts(v) })
	case yaml.SequenceNode:
		return x.each(n, x.texts)
	}
	out, _ := x.resolve(n)
	return out
}

func (x expander) each(n *yaml.Node, do func(*yaml.Node) *yaml.Node) *yaml.Node {
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		out.Content[i] = do(item)
	}
	return &out
}

func (x expander) values(n *yaml.Node, do func(string, *yaml.Node) *yaml.Node) *yaml.Node {
	out := *n
	out.Content = nil
	for k, v := range pairs(n) {
		out.Content = append(out.Content, k, do(k.Value, v))
	}
	return &out
}

// scalar expands one value and fits it to its type. Of what a variable holds, and of a
// secret, no message may repeat anything.
func (x expander) scalar(n *yaml.Node, t reflect.Type, key string) *yaml.Node {
	if t == reflect.TypeFor[secret.Text]() && n.ShortTag() != "!!str" && n.ShortTag() != "!!null" {
		x.f.Problemf(n, "%s: want a string; quote it", key)
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}
	}
	if n.ShortTag() != "!!str" && t.Kind() != reflect.Bool {
		return n
	}
	var fit func(string) (tag, value string, ok bool)
	var want string
	switch {
	case t.Kind() == reflect.String:
		out, _ := x.resolve(n)
		return out
	case t == reflect.TypeFor[time.Duration]():
		fit, want = fitDuration, "a duration"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		fit, want = fitInt, "a whole number"
	case t.Kind() == reflect.Float64:
		fit, want = fitFloat, "a number"
	case t.Kind() == reflect.Bool:
		fit, want = fitBool, "true or false"
	default: // a structure or a list, of which the decoder says so
		return n
	}
	out, used := x.resolve(n)
	tag, value, ok := fit(strings.TrimSpace(out.Value))
	if ok {
		out.Tag, out.Value, out.Style = tag, value, 0
		return out
	}
	if !used {
		return n
	}
	if out.Value != "" || x.complete(n) {
		x.f.Problemf(n, "%s: want %s, and its variables hold something else", key, want)
	}
	zeroTag, zero, _ := fit("0")
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: zeroTag, Value: zero, Line: n.Line, Column: n.Column}
}

func fitInt(s string) (tag, value string, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return "!!int", strconv.FormatInt(n, 10), err == nil
}

func fitFloat(s string) (tag, value string, ok bool) {
	_, err := strconv.ParseFloat(s, 64)
	return "!!float", s, err == nil
}

func fitDuration(s string) (tag, value string, ok bool) {
	_, err := duration.Parse(s)
	return "!!str", s, err == nil
}

func fitBool(s string) (tag, value string, ok bool) {
	switch strings.ToLower(s) {
	case "true", "t", "yes", "y", "on", "1":
		return "!!bool", "true", true
	case "false", "f", "no", "n", "off", "0":
		return "!!bool", "false", true
	}
	return "", "", false
}

var (
	variable     = regexp.MustCompile(`\$\{([^}]+)\}`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// resolve returns a copy of a text with its variables replaced, and whether it has any.
// What comes in is not looked at again. A variable that is not set is a problem, which
// names it and nothing else.
func (x expander) resolve(n *yaml.Node) (out *yaml.Node, used bool) {
	c := *n
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || !strings.Contains(n.Value, "${") {
		return &c, false
	}
	c.Value = variable.ReplaceAllStringFunc(n.Value, func(ref string) string {
		used = true
		name := ref[2 : len(ref)-1]
		if !variableName.MatchString(name) {
			x.f.Problemf(n, "a variable is written ${NAME}, with letters, digits and '_'")
			return ""
		}
		v, ok := x.lookup(name)
		if !ok {
			x.f.Problemf(n, "environment variable %s is not set", name)
		}
		return v
	})
	if used {
		c.Style, c.Tag = yaml.DoubleQuotedStyle, "!!str"
	}
	return &c, used
}

// complete reports whether every variable of a text is set.
func (x expander) complete(n *yaml.Node) bool {
	for _, m := range variable.FindAllStringSubmatch(n.Value, -1) {
		if _, ok := x.lookup(m[1]); !ok {
			return false
		}
	}
	return true
}

// home returns a path in which "~" at the start stands for the user's directory.
func (l *loading) home(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path, nil
	}
	if l.Home == "" {
		return "", fmt.Errorf("~ stands for the home directory, and there is none; write the path out")
	}
	return l.Home + path[1:], nil
}
