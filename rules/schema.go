package rules

import (
	"reflect"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// Schemas returns the JSON Schemas, draft 2020-12, of the values of the keys rules, forms and
// tables, by key. They list every key and every action, but do not check conditions and templates.
func Schemas() map[string]any {
	rule := yamlfile.Schema(reflect.TypeFor[ruleKeys](), ruleKey)
	declared := symbols.Schemas()
	return object{
		"rules":  object{"type": "array", "maxItems": maxRules, "items": rule},
		"forms":  declared["forms"],
		"tables": declared["tables"],
	}
}

// ConditionSchema returns the JSON Schema of a condition.
func ConditionSchema() map[string]any { return object{"type": []string{"string", "boolean"}} }

// IDSchema returns the JSON Schema of a rule's id.
func IDSchema() map[string]any {
	return object{"type": "string", "pattern": idPattern().String(), "maxLength": maxID}
}

type object = map[string]any

func ruleKey(key string) map[string]any {
	s := object{}
	switch key {
	case "id":
		s = IDSchema()
	case "on":
		s = oneOrMore(events.Schema(events.Keys()))
	case "when":
		s = ConditionSchema()
	case "then":
		s = object{"type": "array", "minItems": 1, "maxItems": action.MaxActions, "items": action.Schema()}
	case "scan":
		s = oneOrMore(object{"type": "string", "minLength": 1})
	}
	s["description"] = object{
		"id":              "Id of the rule, used in reports, in tests and by disable.",
		"on":              "Events that the rule listens to. Absent: a new or reopened issue, and dispatch events.",
		"when":            "Condition on which the rule fires. Absent: always.",
		"then":            "Actions of the rule, in order.",
		"stop":            "Whether later rules and the agent are skipped when the rule fires.",
		"override_humans": "Whether the rule may repeat changes that people undid.",
		"together":        "Whether all actions of the rule are carried out, or none.",
		"else_undo":       "Whether the rule's earlier changes are reverted when its condition is false.",
		"scan":            "GitHub search queries that find the issues, or with is:pr the pull requests, of a scheduled run; with on: [schedule] only.",
	}[key]
	return s
}

func oneOrMore(item any) object {
	return object{"anyOf": []any{item, object{"type": "array", "minItems": 1, "items": item}}}
}
