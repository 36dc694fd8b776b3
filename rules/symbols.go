package rules

import (
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
)

// A symbolTable holds the names that rule files declare.
type symbolTable struct {
	forms  map[string]*formField
	tables map[string]any // maps of string to string, int, float64 or bool
	rows   int            // of all tables
	rowsOf map[string]tablePlace
}

// newSymbolTable returns an empty table.
func newSymbolTable() *symbolTable {
	return &symbolTable{forms: map[string]*formField{}, tables: map[string]any{}, rowsOf: map[string]tablePlace{}}
}

const (
	maxForms        = 100
	maxDeclaredName = 64 // characters
)

// namePattern matches the names of forms and tables, which rules write after a dot.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// declare adds what the sections forms and tables of a file declare; either may be nil.
// Mistakes are recorded in f. A field that is wrong is declared all the same, so that its
// uses are no further mistakes.
func (t *symbolTable) declare(f *strictyaml.File, forms, tables *yaml.Node) {
	eachName(f, forms, "forms", func(key, value *yaml.Node) {
		switch _, twice := t.forms[key.Value]; {
		case twice:
			f.Problemf(key, "forms: %s is declared twice", key.Value)
		case len(t.forms) == maxForms:
			f.Problemf(key, "forms: more than %d names", maxForms)
		default:
			t.forms[key.Value] = parseField(f, key.Value, value)
		}
	})
	t.declareTables(f, tables)
}

// eachName calls fn for the entries of a section whose key may be a name.
func eachName(f *strictyaml.File, n *yaml.Node, section string, fn func(key, value *yaml.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "%s: want a mapping of names, got %s", section, strictyaml.Kind(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !namePattern.MatchString(key.Value) || len(key.Value) > maxDeclaredName {
			f.Problemf(key, "%s: a name is at most %d of a-z, 0-9 and _, the first a letter, got %q", section, maxDeclaredName, text.Shorten(key.Value, text.Quoted))
			continue
		}
		fn(key, n.Content[i+1])
	}
}

// symbolSchemas returns the JSON Schemas of the sections forms and tables, by key.
func symbolSchemas() map[string]any {
	names := map[string]any{"pattern": namePattern.String(), "maxLength": maxDeclaredName}
	section := func(most int, item map[string]any) map[string]any {
		return map[string]any{"type": "object", "maxProperties": most, "propertyNames": names, "additionalProperties": item}
	}
	return map[string]any{"forms": section(maxForms, formSchema()), "tables": section(maxTables, tableSchema())}
}

// tableSchema is a table, whose values are of one kind.
func tableSchema() map[string]any {
	var kinds []any
	for _, kind := range []string{"string", "number", "boolean"} {
		kinds = append(kinds, map[string]any{"type": "object", "additionalProperties": map[string]any{"type": kind}})
	}
	return map[string]any{"anyOf": kinds}
}
