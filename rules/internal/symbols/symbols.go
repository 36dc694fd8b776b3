// Package symbols is the symbol table of rules: the names that rule files declare for fields of
// issue forms and for tables, and the functions that the program adds.
package symbols

import (
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/forms"
)

// A Table contains the names that rule files declare. After the last Declare it is immutable and
// safe for concurrent use.
type Table struct {
	Forms  map[string]*forms.Field
	Tables map[string]any             // maps of string to string, int, float64, bool or []string
	RowsOf map[string]Rows            // the rows of each table in its file
	Funcs  map[string]rulesource.Func // the program's own functions
	rows   int                        // number of rows of all tables

	mu   sync.Mutex        // guards sums
	sums map[string]string // results of TableSum
}

// New returns an empty table.
func New() *Table {
	return &Table{Forms: map[string]*forms.Field{}, Tables: map[string]any{}, RowsOf: map[string]Rows{}, Funcs: map[string]rulesource.Func{}}
}

// MaxForms is the largest number of form fields that all files may declare.
const MaxForms = 100

const maxDeclaredName = 64 // characters

// namePattern matches the names of form fields and tables, which conditions write after a dot.
var namePattern = text.Regexp(`^[a-z][a-z0-9_]*$`)

// Declare adds the names that the sections forms and tables of a file declare. Either node may be
// nil. Mistakes are recorded in f. A field with a mistake is declared, too, so that conditions that
// use it cause no further mistakes.
func (t *Table) Declare(f *yamlfile.File, formNodes, tableNodes *yaml.Node) {
	eachName(f, formNodes, "forms", func(key, value *yaml.Node) {
		switch _, twice := t.Forms[key.Value]; {
		case twice:
			f.Problemf(key, "forms: %s is declared twice", key.Value)
		case len(t.Forms) == MaxForms:
			f.Problemf(key, "forms: more than %d names", MaxForms)
		default:
			t.Forms[key.Value] = forms.Parse(f, key.Value, value)
		}
	})
	t.declareTables(f, tableNodes)
}

// Add adds the program's own functions.
func (t *Table) Add(list []rulesource.Func) {
	for _, f := range list {
		t.Funcs[f.Name] = f
	}
}

// eachName calls fn for the entries of a section whose key is a valid name.
func eachName(f *yamlfile.File, n *yaml.Node, section string, fn func(key, value *yaml.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "%s: want a mapping of names, got %s", section, yamlfile.Kind(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !namePattern().MatchString(key.Value) || len(key.Value) > maxDeclaredName {
			f.Problemf(key, "%s: a name is at most %d of a-z, 0-9 and _, the first a letter, got %q", section, maxDeclaredName, text.Shorten(key.Value, text.Quoted))
			continue
		}
		fn(key, n.Content[i+1])
	}
}

// Schemas returns the JSON Schemas of the sections forms and tables, by key.
func Schemas() map[string]any {
	names := map[string]any{"pattern": namePattern().String(), "maxLength": maxDeclaredName}
	section := func(most int, item map[string]any) map[string]any {
		return map[string]any{"type": "object", "maxProperties": most, "propertyNames": names, "additionalProperties": item}
	}
	return map[string]any{"forms": section(MaxForms, forms.Schema()), "tables": section(MaxTables, tableSchema())}
}

// tableSchema returns the schema of a table, whose values are of one kind.
func tableSchema() map[string]any {
	text := map[string]any{"type": "string"}
	list := map[string]any{"type": "array", "maxItems": MaxItems, "items": text}
	var kinds []any
	for _, kind := range []map[string]any{{"anyOf": []any{text, list}}, {"type": "number"}, {"type": "boolean"}} {
		kinds = append(kinds, map[string]any{"type": "object", "additionalProperties": kind})
	}
	return map[string]any{"anyOf": kinds}
}
