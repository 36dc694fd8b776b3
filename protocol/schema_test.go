package protocol_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/foreman-action/protocol"
)

const schemaBase = "https://github.com/org/foreman-action/protocol/schema/"

// compiled holds the compiled schemas by file name.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	names := []string{"task.json", "decision.json", "action.json"}
	for _, name := range names {
		data, err := fs.ReadFile(protocol.Schemas(), name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(schemaBase+name, doc); err != nil {
			return nil, err
		}
	}
	out := map[string]*jsonschema.Schema{}
	for _, name := range names {
		s, err := c.Compile(schemaBase + name)
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
})

func schemaOf(file string) string {
	kind, _, _ := strings.Cut(filepath.Base(file), "-")
	return kind + ".json"
}

// validate checks a document against one of our schemas.
func validate(t testing.TB, schema string, data []byte) error {
	t.Helper()
	all, err := compiled()
	if err != nil {
		t.Fatalf("compile the schemas: %v", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return all[schema].Validate(doc)
}

// checked runs a parser and ActionItem.Intent. For actions of known types it also runs
// ActionSpec.Check, because the schemas check parameters, too.
func checked(t testing.TB, file string, data []byte) error {
	t.Helper()
	m, err := parse(t, file, data)
	if err != nil {
		return err
	}
	var items []protocol.ActionItem
	switch m := m.(type) {
	case protocol.DecisionMessage:
		items = m.Actions
	case protocol.ActionItem:
		items = []protocol.ActionItem{m}
	}
	for _, a := range items {
		if _, err := a.Intent(); err != nil {
			return err
		}
		if spec, ok := protocol.SpecOf(a.Type); ok {
			if err := spec.Check(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestSchemaAgrees checks that decoder and schema accept the same files.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	differs := map[string]bool{
		"decision-not-utf8.json": true, // the validator's JSON reader replaces the invalid byte
	}
	for _, file := range append(files(t, "valid"), files(t, "invalid")...) {
		data := read(t, file)
		ours, theirs := checked(t, file, data), validate(t, schemaOf(file), data)
		if agree := (ours == nil) == (theirs == nil); agree == differs[filepath.Base(file)] {
			t.Errorf("%s: decoder says %v, schema says %v", file, ours, theirs)
		}
	}
}

// values returns the values that are tried for each parameter.
func values() []any {
	list := []any{
		nil, true, false, 0, 1, 7, -1, 1.5, json.Number("7.0"), json.Number("7e0"), json.Number("1e-1"), json.Number("1e3"), json.Number("-0"),
		json.Number("9007199254740991"), json.Number("9007199254740992"), json.Number("9223372036854775807"),
		json.Number("9223372036854775808"), json.Number("1e30"), json.Number("12345678901234567890123"),
		"", " ", "\t\n\v\f\r", "\u00a0", "\u0085\u2003\u3000", "\u200b", "\ufeff", "bug", "7", "not_planned", "Completed", "eyes", "é", "\u0000",
		"high", "Medium", "LOW", " high", "high\n", "H\u0130GH", "0.9", "true", 0.9, 0.6, 1.2, -0.1,
		[]any{}, []any{"a"}, []any{"a", "b"}, []any{"a", ""}, []any{" "}, []any{nil}, []any{"a", 1}, []any{[]any{"a"}}, map[string]any{}, map[string]any{"a": "b"},
	}
	for _, s := range protocol.ActionSpecs() {
		for _, p := range s.Params {
			for _, e := range p.Enum {
				list = append(list, e)
			}
		}
	}
	return list
}

// TestSchemaAgreesOnParameters tries every value in every parameter of every known action. It also
// removes each parameter.
func TestSchemaAgreesOnParameters(t *testing.T) {
	t.Parallel()
	good := map[protocol.ParamKind]any{protocol.KindText: "x", protocol.KindMarkdown: "x", protocol.KindTexts: []any{"x"}, protocol.KindInt: 1}
	valid, invalid := 0, 0
	for _, spec := range protocol.ActionSpecs() {
		base := map[string]any{"type": spec.Name, "unknown": map[string]any{}}
		for _, p := range spec.Params {
			base[p.Name] = good[p.Kind]
			if p.Enum != nil {
				base[p.Name] = p.Enum[0]
			}
		}
		try := func() {
			t.Helper()
			data, err := protocol.Encode(base)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := checked(t, "action-generated", data), validate(t, "action.json", data)
			if (ours == nil) != (theirs == nil) {
				t.Errorf("%s: decoder says %v, schema says %v", data, ours, theirs)
			}
			if ours == nil {
				valid++
			} else {
				invalid++
			}
		}
		names := protocol.IntentParams()
		for _, p := range spec.Params {
			names = append(names, p.Name)
		}
		try()
		for _, name := range names {
			was, given := base[name]
			for _, base[name] = range values() {
				try()
			}
			delete(base, name)
			try()
			if given {
				base[name] = was
			}
		}
	}
	if valid < 100 || invalid < 100 {
		t.Errorf("got %d valid and %d invalid cases, want both in numbers", valid, invalid)
	}
}

// TestSchemaNamesEveryAction checks that the schema lists every action.
func TestSchemaNamesEveryAction(t *testing.T) {
	t.Parallel()
	data, err := fs.ReadFile(protocol.Schemas(), "action.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties struct{ Type struct{ Examples []string } }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, name := range doc.Properties.Type.Examples {
		if _, ok := protocol.SpecOf(name); !ok {
			t.Errorf("the schema names %s, which is no action", name)
		}
		listed[name] = true
	}
	for _, spec := range protocol.ActionSpecs() {
		if !listed[spec.Name] {
			t.Errorf("the schema does not name %s", spec.Name)
		}
	}
}
