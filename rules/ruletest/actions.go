package ruletest

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/action"
)

// expectActions reads a list of actions, written as in "then" but without expressions.
func (d expectDecoder) expectActions(n *yaml.Node) meeting {
	if n.Kind != yaml.SequenceNode {
		d.f.Problemf(n, "actions: want a list of actions, got %s", yamlfile.Kind(n))
		return nil
	}
	var want []protocol.ActionItem
	for _, item := range n.Content {
		if a, ok := d.action(item); ok {
			want = append(want, a)
		}
	}
	return func(a issueState) (string, string, bool) {
		var wants, got []string
		for _, item := range want {
			wants = append(wants, actionText(item))
		}
		for i, item := range a.actions {
			var keys []string // of the intent, which are compared
			if i < len(want) {
				keys = want[i].ParamNames()
			}
			got = append(got, actionText(withIntent(item, keys)))
		}
		return lines(wants), lines(got), slices.Equal(wants, got)
	}
}

// withIntent returns an action with only those keys of its intent that are in keys. Without suggest, an
// action has suggest: false.
func withIntent(a protocol.ActionItem, keys []string) protocol.ActionItem {
	params := map[string]any{}
	for _, name := range a.ParamNames() {
		if slices.Contains(protocol.IntentParams(), name) && !slices.Contains(keys, name) {
			continue
		}
		params[name], _ = a.Param(name)
	}
	if _, ok := params[protocol.ParamSuggest]; !ok && slices.Contains(keys, protocol.ParamSuggest) {
		params[protocol.ParamSuggest] = false
	}
	out, err := protocol.NewAction(a.Type, params)
	if err != nil { // its parameters are JSON already
		return a
	}
	return out
}

func lines(items []string) string {
	if len(items) == 0 {
		return "[]"
	}
	return strings.Join(items, "\n")
}

// actionText is an action in the form of a rule file.
func actionText(a protocol.ActionItem) string {
	spec, _ := protocol.SpecOf(a.Type)
	params := a.ParamNames()
	if len(params) == 0 {
		return a.Type
	}
	if len(params) == 1 && params[0] == spec.Main {
		raw, _ := a.Param(spec.Main)
		return a.Type + ": " + string(raw)
	}
	var b strings.Builder
	for i, name := range params {
		raw, _ := a.Param(name)
		fmt.Fprintf(&b, "%s%s: %s", strings.Repeat(", ", min(i, 1)), name, raw)
	}
	return a.Type + ": {" + b.String() + "}"
}

// action reads one action with all of its parameters.
func (d expectDecoder) action(n *yaml.Node) (protocol.ActionItem, bool) {
	name, value := n, (*yaml.Node)(nil)
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
		name, value = n.Content[0], n.Content[1]
	}
	specs := append(protocol.ActionSpecs(), d.own...)
	i := slices.IndexFunc(specs, func(s protocol.ActionSpec) bool { return s.Name == name.Value })
	switch {
	case name.Kind != yaml.ScalarNode:
		d.f.Problemf(n, "want an action, got %s", yamlfile.Kind(n))
		return protocol.ActionItem{}, false
	case name.Value == action.Escalate:
		d.f.Problemf(n, "escalate is not listed under actions; write escalated: true")
		return protocol.ActionItem{}, false
	case name.Value == action.Retriage:
		d.f.Problemf(n, "retriage is not listed under actions; write retriage: true")
		return protocol.ActionItem{}, false
	case i < 0:
		d.f.Problemf(name, "unknown action %q%s", name.Value, action.Hint(name.Value, specs))
		return protocol.ActionItem{}, false
	}
	spec := specs[i]
	before := d.f.ErrorCount()
	params := map[string]any{}
	switch {
	case value == nil:
	case value.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(value.Content); i += 2 {
			d.param(spec, value.Content[i], value.Content[i+1], params)
		}
	case spec.Main == "":
		d.f.Problemf(value, "%s takes no value", spec.Name)
	default:
		d.param(spec, &yaml.Node{Kind: yaml.ScalarNode, Value: spec.Main}, value, params)
	}
	item, err := protocol.NewAction(spec.Name, params)
	if err == nil && d.f.ErrorCount() == before {
		err = spec.Check(item)
	}
	if err != nil {
		d.f.Problemf(n, "%v", err)
	}
	return item, d.f.ErrorCount() == before
}

// param reads one parameter of an action.
func (d expectDecoder) param(spec protocol.ActionSpec, key, value *yaml.Node, out map[string]any) {
	known := make([]string, len(spec.Params))
	for i, p := range spec.Params {
		known[i] = p.Name
	}
	i := slices.Index(known, key.Value)
	switch {
	case slices.Contains(protocol.IntentParams(), key.Value):
		d.intent(key.Value, value, out)
		return
	case i < 0:
		d.f.UnknownKey(key, slices.Concat(known, protocol.IntentParams()))
		return
	}
	var text string
	var texts []string
	var number int
	switch kind := spec.Params[i].Kind; {
	case kind == protocol.KindInt:
		d.f.DecodeKey(key.Value, value, &number)
		out[key.Value] = number
	case kind == protocol.KindTexts && value.Kind == yaml.SequenceNode:
		d.f.DecodeKey(key.Value, value, &texts)
		out[key.Value] = texts
	default:
		d.f.DecodeKey(key.Value, value, &text)
		out[key.Value] = text
		if kind == protocol.KindTexts {
			out[key.Value] = []string{text}
		}
	}
}

// intent reads a key that every action may have.
func (d expectDecoder) intent(key string, value *yaml.Node, out map[string]any) {
	var in protocol.Intent
	action.DecodeIntent(d.f, key, value, &in)
	switch key {
	case protocol.ParamRationale:
		out[key] = in.Rationale
	case protocol.ParamConfidence:
		out[key] = in.Confidence
	case protocol.ParamSuggest:
		out[key] = in.Suggest
	}
}
