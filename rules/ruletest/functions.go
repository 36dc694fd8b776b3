package ruletest

import (
	"reflect"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// results reads the results of the program's own functions, by name. The map is never nil, because
// a test calls no function.
func (d decoder) results(n *yaml.Node) map[string]any {
	out := map[string]any{}
	if n == nil {
		return out
	}
	if n.Kind != yaml.MappingNode {
		d.f.Problemf(n, "functions: want a mapping of functions to results, got %s", yamlfile.Kind(n))
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.IndexFunc(d.own.Funcs, func(f rulesource.Func) bool { return f.Name == key.Value })
		if at < 0 {
			names := make([]string, len(d.own.Funcs))
			for i, f := range d.own.Funcs {
				names[i] = f.Name
			}
			d.f.Problemf(key, "functions: the program has no function %q of its own%s", text.Shorten(key.Value, text.Quoted), yamlfile.DidYouMean(key.Value, names))
			continue
		}
		if v := reflect.New(d.own.Funcs[at].Result); d.result("functions."+key.Value, value, v.Interface()) {
			out[key.Value] = v.Elem().Interface()
		}
	}
	return out
}

// result reads one result, and reports whether it is valid.
func (d decoder) result(name string, n *yaml.Node, out any) bool {
	before := d.f.ErrorCount()
	switch out := out.(type) {
	case *time.Time:
		d.fields.moment(name, n, out)
	case *time.Duration:
		var s string
		if d.f.DecodeKey(name, n, &s) {
			length, err := protocol.ParseDuration(s)
			if err != nil {
				d.f.Problemf(n, "%s: want a duration such as \"12h\" or \"14d\", got %q", name, text.Shorten(s, text.Quoted))
			}
			*out = length
		}
	default:
		d.f.DecodeKey(name, n, out)
	}
	return d.f.ErrorCount() == before
}
