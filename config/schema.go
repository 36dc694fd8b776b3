package config

import (
	"maps"
	"reflect"
	"slices"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// SchemaID is the id of the JSON Schema of configuration files. It is a name: the address
// need not exist.
const SchemaID = "https://github.com/org/foreman-action/foreman.schema.json"

// Schema returns the JSON Schema, draft 2020-12, of configuration and rule files, made
// from the types that [Load] decodes: every key with its description. It accepts some files
// that Load refuses, such as one with a mistake in a condition; Load refuses every file that
// it refuses.
func Schema() map[string]any {
	parts := rules.Schemas()
	parts["tests"] = ruletest.Schema()
	s := yamlfile.Schema(reflect.TypeFor[sections](), func(path string) map[string]any {
		out := object{}
		if part, ok := parts[path].(map[string]any); ok {
			maps.Copy(out, part)
		}
		maps.Copy(out, keySchema(path))
		if d := keyDescriptions()[path]; d != "" {
			out["description"] = d
		}
		return out
	})
	s["$schema"], s["$id"] = "https://json-schema.org/draft/2020-12/schema", SchemaID
	s["title"] = "Configuration and rule files of Foreman"
	s["required"] = []string{"version"}
	return s
}

type object = map[string]any

// keySchema returns what the type of a key's value leaves open.
func keySchema(path string) object {
	enum := func(values ...string) object { return object{"enum": values} }
	texts := object{"type": "array", "items": object{"type": "string"}}
	actions := object{"items": enum(knownActions()...)}
	switch path {
	case "version":
		return object{"const": 1}
	case "mode":
		return enum(string(ModeApply), string(ModeShadow))
	case "extends":
		return object{"type": "string", "pattern": `^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+:[^/].*@[^@]+$`}
	case "disable":
		return object{"items": rules.IDSchema()}
	case "include":
		return object{"anyOf": []any{object{"type": "string"}, texts}}
	case "limits", "policy.limits":
		return object{"additionalProperties": false, "properties": limitProperties()}
	case "policy.actions", "agent.may":
		return actions
	case "policy.unknown_action":
		return enum(policy.UnknownStop, policy.UnknownReject)
	case "policy.comment_length":
		return object{"minimum": 1, "maximum": policy.MaxCommentLength}
	case "policy.max_comments_per_issue", "policy.max_writes_per_hour":
		return object{"minimum": 0}
	case "llm.max_tokens":
		return object{"minimum": 1}
	case "memory.store":
		return enum("off", "artifact", "cache", "file")
	case "memory.summary":
		return enum("facts", "model")
	case "agent.auth":
		return enum("none", "token", "oidc")
	case "agent.when":
		return rules.ConditionSchema()
	case "agent.on_failure":
		label := object{
			"type": "object", "additionalProperties": false, "required": []string{"add_label"},
			"properties": object{"add_label": object{"type": "string"}},
		}
		return object{"anyOf": []any{enum("fail", "skip"), label}}
	}
	return nil
}

func limitProperties() object {
	properties := object{}
	for _, name := range slices.DeleteFunc(knownActions(), func(name string) bool { return name == protocol.ActionAddLabels }) {
		properties[name] = object{"type": "integer", "minimum": 0}
	}
	return properties
}

// keyDescriptions returns the description of every key outside of the rules.
func keyDescriptions() map[string]string {
	limits := "Most actions of each type per event; 0 forbids. Absent types have a default."
	labels := "Which labels may be added or removed, for rules and agents alike."
	allow := "Globs of labels. Absent: every label; empty: none."
	deny := "Globs of labels that are never touched; wins over allow."
	return map[string]string{
		"version": "Version of the file's form.",
		"extends": "File of another repository whose rules come first and whose policy holds: owner/repo:path@ref, at a tag or a commit.",
		"disable": "Ids of inherited rules that are switched off.",
		"mode":    "Whether decisions are carried out (apply) or only reported (shadow).",
		"policy":  "What may be done, whoever decides.",
		"limits":  limits + " Short for policy.limits.", "policy.limits": limits,
		"labels": labels + " Short for policy.labels.", "policy.labels": labels,
		"labels.allow": allow, "policy.labels.allow": allow, "labels.deny": deny, "policy.labels.deny": deny,
		"policy.allow_close":            "Whether an issue may be closed.",
		"policy.actions":                "Types of actions that are permitted. Absent: all.",
		"policy.create_labels":          "Whether a label that the repository lacks is created.",
		"policy.unknown_action":         "What an unknown action does: stop the list there, or reject the whole plan.",
		"policy.comment_length":         "Most characters of a comment.",
		"policy.mentions":               "Globs of logins and teams that an agent may mention. Absent: nobody.",
		"policy.links":                  "Globs of hosts that an agent may link to. Absent: all.",
		"policy.comment_interval":       "Least time between two commented events on one issue, such as 24h; 0: none.",
		"policy.max_comments_per_issue": "Most comments of ours on one issue, sticky ones apart; 0: any number.",
		"policy.max_writes_per_hour":    "Most changes to one issue within an hour; 0: any number.",
		"policy.max_scanned_issues":     "Most issues that a scheduled run decides on.",
		"policy.shadow_period":          "How long people are given to do what shadow mode would have done.",
		"llm":                           "Model that the agent is told of, and that words the memory with memory.summary: model.",
		"llm.provider":                  "Provider of the model, such as anthropic.",
		"llm.model":                     "Name of the model.",
		"llm.base_url":                  "Address of a service that speaks the provider's protocol. Absent: the provider's own.",
		"llm.timeout":                   "Time for one answer, such as 20s.",
		"llm.max_tokens":                "Most tokens that one answer may cost.",
		"memory":                        "Where what was done on an issue is remembered.",
		"memory.store":                  "Kind of store.",
		"memory.path":                   "Folder of the file store.",
		"memory.summary":                "Who words what the agent is told was done before.",
		"agent":                         "HTTP agent that is asked for what the rules leave open.",
		"agent.url":                     "Base address of the agent.",
		"agent.auth":                    "How the agent is told who asks.",
		"agent.timeout":                 "Time for the agent's whole answer, such as 60s.",
		"agent.when":                    "Condition on which the agent is asked. Absent: when no rule fired.",
		"agent.may":                     "Types of actions that the agent may ask for, of those that are permitted. Absent: all of them.",
		"agent.on_failure":              "What an agent that gives no usable answer means: fail, skip, or a label to add.",
		"forms":                         "Fields of issue forms, under the names by which rules ask for them.",
		"tables":                        "Tables of text, numbers or booleans that rules look up.",
		"rules":                         "Rules, asked in order.",
		"tests":                         "What the rules are expected to do; foreman rules test asks them.",
		"include":                       "More rule files, as paths or globs below the repository's root.",
	}
}
