package config

import (
	"reflect"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// SchemaID is the id of the JSON Schema of configuration files. It is only a name: no page needs to
// exist at this address.
const SchemaID = "https://github.com/org/foreman-action/foreman.schema.json"

// Schema returns the JSON Schema, draft 2020-12, of configuration and rule files. It is made from
// the types that [Load] decodes, and describes every key. Load rejects every file that the schema
// rejects, and also some others, such as a file with a mistake in a condition.
func Schema() map[string]any {
	parts := rules.Schemas()
	parts["tests"] = ruletest.Schema()
	parts["disable"] = object{"items": rules.IDSchema()}
	parts["agent.when"] = rules.ConditionSchema()
	actions, limits := object{"items": object{"enum": knownActions(nil)}}, limitsSchema()
	parts["policy.actions"], parts["policy.approve"], parts["agent.may"] = actions, actions, actions
	parts["limits"], parts["policy.limits"] = limits, limits
	parts["policy.earn"] = earnSchema()
	s := table().Schema(reflect.TypeFor[sections](), parts)
	s["$id"], s["title"] = SchemaID, "Configuration and rule files of Foreman"
	s["required"] = []string{"version"}
	return s
}

// limitsSchema returns the schema of a mapping from actions to numbers.
func limitsSchema() object {
	properties := object{}
	for _, spec := range protocol.ActionSpecs() {
		if spec.CountsAs == "" {
			properties[spec.Name] = object{"type": "integer", "minimum": 0}
		}
	}
	return object{"additionalProperties": false, "properties": properties}
}
