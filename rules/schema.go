package rules

import (
	"reflect"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// Schemas returns the JSON Schemas, draft 2020-12, of the values of the keys rules,
// tests, forms and tables, by key. They know every key and every action; what a condition or a
// template says, they do not look at.
func Schemas() map[string]any {
	rule := strictyaml.Schema(reflect.TypeFor[ruleKeys](), ruleKey)
	declared := symbols.Schemas()
	return object{
		"rules":  object{"type": "array", "maxItems": maxRules, "items": rule},
		"tests":  object{"type": "array", "maxItems": maxTests, "items": testSchema()},
		"forms":  declared["forms"],
		"tables": declared["tables"],
	}
}

// ConditionSchema returns the JSON Schema of a condition.
func ConditionSchema() map[string]any { return object{"type": []string{"string", "boolean"}} }

// IDSchema returns the JSON Schema of a rule's id.
func IDSchema() map[string]any {
	return object{"type": "string", "pattern": idPattern.String(), "maxLength": maxID}
}

type object = map[string]any

func ruleKey(key string) map[string]any {
	s := object{}
	switch key {
	case "id":
		s = IDSchema()
	case "on":
		s = oneOrMore(eventSchema(eventKeys()))
	case "when":
		s = ConditionSchema()
	case "then":
		s = object{"type": "array", "minItems": 1, "maxItems": maxActions, "items": actionSchema()}
	case "scan":
		s = object{"type": "string", "minLength": 1}
	}
	s["description"] = object{
		"id":              "Name of the rule, which reports and disable use.",
		"on":              "Events that the rule listens to. Absent: a new or reopened issue, and dispatch events.",
		"when":            "Condition on which the rule fires. Absent: always.",
		"then":            "What it does, in order.",
		"stop":            "Whether later rules, and the agent, are left out when it fires.",
		"override_humans": "Whether it may undo what people did on the issue.",
		"else_undo":       "Whether what this rule did is taken back when its condition is false.",
		"scan":            "GitHub search query that finds the issues of a scheduled run; with on: [schedule] only.",
	}[key]
	return s
}

func oneOrMore(item any) object {
	return object{"anyOf": []any{item, object{"type": "array", "minItems": 1, "items": item}}}
}

// actionSchema is one item of "then".
func actionSchema() object {
	var bare []string
	long := object{}
	for _, spec := range specs() {
		s, needs := paramsSchema(spec)
		if !needs {
			bare = append(bare, spec.Name)
		}
		long[spec.Name] = s
	}
	return object{"anyOf": []any{
		object{"enum": bare},
		object{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": long},
	}}
}

// paramsSchema is what stands behind an action's name; needs says that something must.
func paramsSchema(spec protocol.ActionSpec) (schema object, needs bool) {
	properties, required := object{}, []string{}
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
	forms = append(forms, object{"type": "object", "additionalProperties": false, "required": required, "properties": properties})
	if len(required) == 0 {
		forms = append(forms, object{"type": "null"})
	}
	return object{"anyOf": forms}, len(required) > 0
}

// templated is a text that becomes a value only when the rule fires.
func templated() object { return object{"type": "string", "pattern": `\{\{`} }

func paramSchema(p protocol.Param) object {
	item := object{"type": "string"}
	if p.Enum != nil {
		item = object{"anyOf": []any{object{"enum": p.Enum}, templated()}}
	}
	switch p.Kind {
	case protocol.KindTexts:
		list := object{"type": "array", "maxItems": maxList, "items": item}
		return object{"anyOf": []any{list, object{"type": "string"}}}
	case protocol.KindInt:
		return object{"anyOf": []any{object{"type": "integer", "minimum": 1}, templated()}}
	default:
		return item
	}
}
