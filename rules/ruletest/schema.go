package ruletest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/triage"
)

type object = map[string]any

// Schema returns the JSON Schema, draft 2020-12, of the value of the key tests.
func Schema() map[string]any {
	return object{"type": "array", "maxItems": maxTests, "items": testSchema()}
}

// testSchema returns the schema of one item of "tests".
func testSchema() object {
	return yamlfile.Schema(reflect.TypeFor[testKeys](), func(key string) map[string]any {
		s := testKey(key)
		s["description"] = map[string]string{
			"name":      "What the test shows, in one line.",
			"event":     "The event, as in on. Absent: issues.opened.",
			"now":       "The time, which is also that of the issue.",
			"repo":      "The repository, as owner/name.",
			"issue":     "The issue. Omitted fields default to a new issue by a user outside the organisation, without title, text and labels.",
			"actor":     "Who causes the event. Absent: the author of the comment, or else of the issue.",
			"comment":   "The comment of an issue_comment event.",
			"label":     "The label that is added or removed.",
			"assignee":  "The login of the person who is assigned or unassigned.",
			"milestone": "The title of the milestone that is set or removed.",
			"pr":        "Fields that only pull requests have.",
			"author":    "The author of the issue: earlier issues and pull requests, and the account.",
			"contrib":   "How the issue suits contributors.",
			"memory":    "The record of earlier actions on the issue.",
			"functions": "The results of the program's own functions, by their names.",
			"past":      "What happened on the issue before, the oldest first.",
			"expect":    "The expected results. Omitted keys are not compared.",
		}[key]
		return s
	})
}

func testKey(key string) object {
	text := object{"type": "string"}
	switch key {
	case "event":
		return events.Schema(slices.DeleteFunc(events.Keys(), func(key string) bool { return strings.HasSuffix(key, ".*") }))
	case "now":
		return momentSchema()
	case "issue":
		return factSchema(slotsOf(reflect.ValueOf(&triage.Issue{}).Elem()), key, nil)
	case "actor":
		return factSchema(slotsOf(reflect.ValueOf(&triage.Actor{}).Elem()), key, object{
			"permission": object{"enum": expression.FieldValues("actor.permission"), "description": "What the actor may do in the repository."},
		})
	case "comment":
		return factSchema(slotsOf(reflect.ValueOf(&triage.Comment{}).Elem()), key, nil)
	case "pr", "author", "contrib":
		return factSchema(lookedUpSlots(key, &facts.Known{}), key, nil)
	case "memory":
		by := object{"type": "object", "additionalProperties": text, "description": "The rules that added labels, by label. Absent: those that name it."}
		return factSchema(lookedUpSlots(key, &facts.Known{}), key, object{"by": by})
	case "functions":
		return object{"type": "object", "additionalProperties": object{"anyOf": []any{object{"type": []string{"string", "number", "boolean"}}, object{"type": "array", "items": text}}}}
	case "past":
		return object{"type": "array", "items": yamlfile.Schema(reflect.TypeFor[pastKeys](), pastKey)}
	case "expect":
		s := yamlfile.Schema(reflect.TypeFor[expectKeys](), expectKey)
		s["minProperties"] = 1
		return s
	}
	return text
}

// momentSchema returns the schema of a time: a text, or a value that a YAML parser has already
// converted to a time.
func momentSchema() object { return object{"type": "string", "pattern": `^\d{4}-\d\d-\d\d`} }

func pastKey(key string) map[string]any {
	s := object{"type": "string"}
	switch key {
	case "at":
		s = momentSchema()
	case "as":
		s = object{"enum": []string{asHuman, asBot, asUs}}
	}
	s["description"] = map[string]string{
		"event": "What happened, as GitHub's timeline names it.", "at": "When.", "by": "The login of the account that did it.",
		"as": "The kind of account: a person, a program, or Foreman itself.", "label": "The label that was added or removed.",
	}[key]
	return s
}

func expectKey(key string) map[string]any {
	texts := object{"type": "array", "items": object{"type": "string"}}
	s := object{}
	switch key {
	case "fired", "undone", "labels":
		s = texts
	case "comments":
		s = object{"anyOf": []any{object{"type": "integer", "minimum": 0}, texts}}
	case "closed":
		s = object{"enum": []any{true, false, "completed", "not_planned", "duplicate"}}
	case "escalated":
		s = object{"type": []string{"boolean", "string"}}
	case "decision":
		s = object{"enum": protocol.DecisionTypes()}
	case "retriage":
		s = object{"type": "boolean"}
	case "actions":
		s = object{"type": "array", "items": action.Schema()}
	case "error":
		s = object{"type": "string"}
	}
	s["description"] = map[string]string{
		"fired": "The rules that fire, in order.", "labels": "The labels of the issue afterwards, in any order.",
		"comments": "How many comments there are, or a part of each.", "closed": "Whether the issue is closed, or the reason.",
		"escalated": "Whether the issue is escalated to a person, or a part of the reason.", "decision": "The decision.",
		"undone": "The rules whose label or scheduled close is reverted.", "retriage": "Whether the issue is decided on again.",
		"actions": "All actions, as in then.", "error": "A part of the message of a condition that fails.",
	}[key]
	return s
}

// factSchema returns the schema of a section of the facts; more adds keys to it.
func factSchema(slots []slot, name string, more object) object {
	docs := map[string]string{}
	for _, n := range rules.Reference() {
		docs[strings.TrimPrefix(n.Name, "event.comment")] = n.Doc
		docs[n.Name] = n.Doc
	}
	properties := object{}
	for _, s := range slots {
		key := s.key
		p := factValue(s.value, name+"."+key)
		if key == "reactions" {
			p["description"] = "How many reactions the issue has."
		}
		if doc := docs[name+"."+key]; doc != "" {
			p["description"] = doc
		} else if doc := docs["."+key]; doc != "" && name == "comment" {
			p["description"] = doc
		}
		properties[key] = p
	}
	maps.Copy(properties, more)
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func factValue(v reflect.Value, name string) object {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[time.Time]():
		return momentSchema()
	case t.Kind() == reflect.Struct:
		return factSchema(slotsOf(v), name, nil)
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": object{"type": "string"}}
	case t.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case t.Kind() == reflect.Int:
		return object{"type": "integer", "minimum": 0}
	case expression.FieldValues(name) != nil:
		return object{"enum": expression.FieldValues(name)}
	}
	return object{"type": "string"}
}
