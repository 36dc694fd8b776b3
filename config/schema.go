package config

import (
	"reflect"

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
	s := table().Schema(reflect.TypeFor[sections](), parts)
	s["$id"], s["title"] = SchemaID, "Configuration and rule files of Foreman"
	s["required"] = []string{"version"}
	return s
}
