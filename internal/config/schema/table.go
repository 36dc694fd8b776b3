// Package schema describes the keys of a configuration file in a [Table]: the purpose of each key,
// and its permitted values. The table provides both the checks of a file and its JSON Schema.
//
// The type and the default of a key are those of its field in a Go struct, which yamlfile decodes.
package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// An Object is a part of a JSON Schema.
type Object = map[string]any

// A Key describes one key.
type Key struct {
	// Path is the path from the top of the file, such as "queue.max_retries". Items of a list have
	// the path of the list.
	Path string
	Doc  string // its description, for documentation and editors
	Rule Rule   // checks its values; the zero value permits all values of its type
	// JSON replaces Rule.JSON in the JSON Schema, unless it is nil.
	JSON Object
}

// A Rule permits some values of a key's type.
type Rule struct {
	JSON  Object      // the rule as JSON Schema; nil: not in the schema
	Check func(Value) // reports a value that is not permitted
}

// A Table contains the keys of a file.
type Table []Key

// Below returns the table with "path." in front of each key's path.
func (t Table) Below(path string) Table {
	out := make(Table, len(t))
	for i, k := range t {
		k.Path = path + "." + k.Path
		out[i] = k
	}
	return out
}

// Schema returns the JSON Schema, draft 2020-12, of the mapping that decodes into a struct type.
// parts contains the schemas of values that other packages decode, by path.
func (t Table) Schema(document reflect.Type, parts Object) Object {
	rows := map[string]Key{}
	for _, k := range t {
		rows[k.Path] = k
	}
	s := yamlfile.Schema(document, func(path string) Object {
		out, k := Object{}, rows[path]
		if part, ok := parts[path].(Object); ok {
			maps.Copy(out, part)
		}
		if k.JSON == nil {
			k.JSON = k.Rule.JSON
		}
		maps.Copy(out, k.JSON)
		if k.Doc != "" {
			out["description"] = k.Doc
		}
		return out
	})
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return s
}

// A Value is the value of a key in a file.
type Value struct {
	Name string     // the key's path, for messages
	Node *yaml.Node // as written
	// Go is the value that Node was decoded into. A rule may set it.
	Go reflect.Value

	checker Checker
}

// Problemf reports a mistake in the value. The message begins with the key's path.
func (v Value) Problemf(format string, args ...any) { v.ProblemAt(v.Node, format, args...) }

// ProblemAt is [Value.Problemf] for a part of the value.
func (v Value) ProblemAt(at *yaml.Node, format string, args ...any) {
	v.checker.File.Problemf(at, "%s: %s", v.Name, fmt.Sprintf(format, args...))
}

// Entry returns the value of a key in a mapping.
func (v Value) Entry(key string, n *yaml.Node) Value {
	v.Name, v.Node, v.Go = v.Name+"."+key, n, v.Go.MapIndex(reflect.ValueOf(key))
	return v
}

// want reports a value that is not permitted. what describes the permitted values. The message
// contains the value unless it may be a secret.
func (v Value) want(what, hint string) {
	got := ""
	if !v.checker.Hide {
		got = ", got " + quote(v.Go)
	}
	v.Problemf("want %s%s%s", what, got, hint)
}

// A Checker checks the values of a file after they were decoded. It skips a value in which decoding
// found a mistake, because the field then contains a substitute.
type Checker struct {
	File *yamlfile.File
	Hide bool // values may be secrets, so messages do not contain them

	table Table
	wrong map[place]bool // where decoding found a mistake
}

type place struct{ line, column int }

// Checker returns the checker of a file that was just decoded.
func (t Table) Checker(f *yamlfile.File) Checker {
	c := Checker{File: f, table: t, wrong: map[place]bool{}}
	problems, _ := errors.AsType[yamlfile.Problems](f.Err())
	for _, p := range problems {
		c.wrong[place{p.Line, p.Column}] = true
	}
	return c
}

// Check applies the rules of the keys at and below path to the struct that v points to. The struct
// was decoded from n.
func (c Checker) Check(path string, n *yaml.Node, v any) {
	c.File.EachField(path, n, reflect.ValueOf(v), func(path string, at *yaml.Node, v reflect.Value) {
		i := slices.IndexFunc(c.table, func(k Key) bool { return k.Path == path && k.Rule.Check != nil })
		if i < 0 || c.wrongAt(at) {
			return
		}
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		c.table[i].Rule.Check(Value{path, at, v, c})
	})
}

func (c Checker) wrongAt(n *yaml.Node) bool { return c.wrong[place{n.Line, n.Column}] }

// wrongIn reports whether decoding found a mistake in a node.
func (c Checker) wrongIn(n *yaml.Node) bool {
	if c.wrongAt(n) {
		return true
	}
	return slices.ContainsFunc(n.Content, c.wrongIn)
}

// Problemf reports a mistake at a node, unless decoding found one there. A nil node means the start
// of the file.
func (c Checker) Problemf(at *yaml.Node, format string, args ...any) {
	if at == nil || !c.wrongIn(at) {
		c.File.Problemf(at, format, args...)
	}
}
