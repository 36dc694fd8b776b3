package action

import (
	"maps"

	"github.com/org/foreman-action/protocol"
)

// Schema returns the JSON Schema of one item of "then".
func Schema() map[string]any {
	var bare []string
	long := map[string]any{}
	for _, spec := range Specs() {
		s, needs := paramsSchema(spec)
		if !needs {
			bare = append(bare, spec.Name)
		}
		long[spec.Name] = s
	}
	return map[string]any{"anyOf": []any{
		map[string]any{"enum": bare},
		map[string]any{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": long},
	}}
}

// paramsSchema returns the schema of an action's parameters. needs is true when one is required.
func paramsSchema(spec protocol.ActionSpec) (schema map[string]any, needs bool) {
	properties, required := map[string]any{}, []string{}
	var forms []any
	for _, p := range spec.Params {
		properties[p.Name] = paramSchema(p)
		if p.Required {
			required = append(required, p.Name)
		}
		if p.Name == spec.Main {
			forms = append(forms, paramSchema(p))
		}
	}
	if proposable(spec) {
		maps.Copy(properties, intentSchema())
	}
	form := map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
	needs = len(required) > 0 || spec.NeedsOne
	if spec.NeedsOne {
		var one []any
		for _, p := range spec.Params {
			one = append(one, map[string]any{"required": []string{p.Name}})
		}
		form["anyOf"] = one
	}
	forms = append(forms, form)
	if !needs {
		forms = append(forms, map[string]any{"type": "null"})
	}
	return map[string]any{"anyOf": forms}, needs
}

// intentSchema returns the schemas of the keys that every action may have.
func intentSchema() map[string]any {
	return map[string]any{
		protocol.ParamRationale: map[string]any{
			"type": "string", "minLength": 1, "not": templated(),
			"description": "Why the rule does it, as literal text of at most 280 characters. Absent: the true parts of the condition.",
		},
		protocol.ParamConfidence: map[string]any{
			"anyOf": []any{
				map[string]any{"enum": protocol.Confidences()}, // what editors offer
				map[string]any{"type": "string", "pattern": "^([Ll][Oo][Ww]|[Mm][Ee][Dd][Ii][Uu][Mm]|[Hh][Ii][Gg][Hh])$"},
				map[string]any{"type": "number", "minimum": 0, "maximum": 1},
			},
			"description": "How sure the rule is. Absent: high.",
		},
		protocol.ParamSuggest: map[string]any{"type": "boolean", "description": "Whether the action is proposed to a person first."},
	}
}

// templated returns the schema of a text with {{ }}, whose value is known only when the rule fires.
func templated() map[string]any { return map[string]any{"type": "string", "pattern": `\{\{`} }

func paramSchema(p protocol.Param) map[string]any {
	item := map[string]any{"type": "string"}
	if p.Enum != nil {
		item = map[string]any{"anyOf": []any{map[string]any{"enum": p.Enum}, templated()}}
	}
	switch p.Kind {
	case protocol.KindTexts:
		list := map[string]any{"type": "array", "maxItems": MaxList, "items": item}
		return map[string]any{"anyOf": []any{list, map[string]any{"type": "string"}}}
	case protocol.KindInt:
		return map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": 1}, templated()}}
	default:
		return item
	}
}
