package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// compiledSchema returns the schema, compiled by a validator.
func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document returns a YAML file as the value that a validator checks.
func document(t *testing.T, src []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(plain(v))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// plain converts the keys of mappings to strings, as in JSON.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for k, e := range v {
			out[fmt.Sprint(k)] = plain(e)
		}
		return out
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
	}
	return v
}

// TestSchemaValid checks that the schema accepts every file that loads: test cases of this package
// and of the rules, and files of this repository.
func TestSchemaValid(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	check := func(t *testing.T, name string, src []byte) {
		t.Helper()
		if doc := document(t, src); doc != nil {
			if err := s.Validate(doc); err != nil {
				t.Errorf("%s: %v\n%s", name, err, src)
			}
		}
	}
	for _, pattern := range []string{"testdata/load/*.txtar", "testdata/*/*.txtar", "../rules/testdata/ok/*.txtar", "../rules/testdata/*/*.txtar", "../rules/ruletest/testdata/*/*.txtar", "../testdata/script/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 25 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			together := slices.ContainsFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" && bytes.HasPrefix(f.Data, []byte("files ")) })
			for _, f := range ar.Files {
				if bytes.HasPrefix(f.Data, []byte("version: 1\n")) && (together || loads(f.Data)) {
					check(t, file+" "+f.Name, f.Data)
				}
			}
		}
	}
	for _, file := range []string{"../.github/foreman.yml", "../testdata/demo/foreman.yml"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(t, file, src)
	}
}

// loads reports whether a file loads without other files.
func loads(src []byte) bool {
	return load(src) == nil
}

// load loads a file with its tests.
func load(src []byte) error {
	_, err := Load(context.Background(), single{"f.yml", src}, Spec{
		Path: "f.yml", Tests: true, Getenv: func(string) string { return "x" },
	})
	return err
}

// TestSchemaRefuses checks that the schema rejects files with unknown keys, and other files with
// mistakes that a schema can express.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := filepath.Glob("../rules/testdata/err/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("../rules/ruletest/testdata/tests/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.Concat(files, theirs, tests)
	refused := 0
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			err := load(f.Data)
			if !bytes.HasPrefix(f.Data, []byte("version: 1\n")) || err == nil || !strings.Contains(err.Error(), ": unknown ") {
				continue
			}
			known := false
			for _, what := range []string{": unknown key ", ": unknown action ", ": unknown event "} {
				known = known || strings.Contains(err.Error(), what)
			}
			var v any
			if !known || yaml.Unmarshal(f.Data, &v) != nil {
				continue
			}
			refused++
			if s.Validate(document(t, f.Data)) == nil {
				t.Errorf("%s %s is valid by the schema, but: %v", file, f.Name, err)
			}
		}
	}
	if refused < 10 {
		t.Errorf("only %d files with unknown words", refused)
	}
}

// TestSchemaClosed checks that the schema rejects an unknown key in every mapping. It uses a file
// that contains all keys.
func TestSchemaClosed(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	src, err := os.ReadFile("testdata/schema/every_key.yml")
	if err != nil {
		t.Fatal(err)
	}
	full := document(t, src)
	if err := s.Validate(full); err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{".forms": true, ".tables": true, ".tables.area_of": true, ".tests.functions": true, ".policy.earn.reset": true}
	n := 0
	eachMapping(full, "", func(at string, m map[string]any) {
		if open[at] {
			return
		}
		n++
		m["zzz"] = "x"
		if s.Validate(full) == nil {
			t.Errorf("an unknown key at %q is valid", at)
		}
		delete(m, "zzz")
	})
	if n < 15 {
		t.Errorf("only %d mappings", n)
	}
	used := map[string]bool{}
	eachMapping(full, "", func(at string, m map[string]any) {
		for key := range m {
			used[at+"."+key] = true
		}
	})
	properties(Schema(), "", func(at string, schema map[string]any) {
		if !strings.Contains(at, ".limits.") && schema["description"] == nil {
			t.Errorf("%s has no description", at)
		}
		if strings.Count(at, ".") <= 2 && !strings.Contains(at, "limits.") && !used[at] {
			t.Errorf("testdata/schema/every_key.yml does not use %s", at)
		}
	})
}

// eachMapping calls fn for the mappings of a document; the items of a list share a path.
func eachMapping(v any, at string, fn func(at string, m map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		fn(at, v)
		for key, e := range v {
			eachMapping(e, at+"."+key, fn)
		}
	case []any:
		for _, e := range v {
			eachMapping(e, at, fn)
		}
	}
}

// properties calls fn for the keys in a schema, except those of actions.
func properties(s map[string]any, at string, fn func(at string, schema map[string]any)) {
	if items, ok := s["items"].(map[string]any); ok && at != ".rules.then" && at != ".tests.expect.actions" {
		properties(items, at, fn)
	}
	keys, _ := s["properties"].(map[string]any)
	for key, p := range keys {
		schema, _ := p.(map[string]any)
		fn(at+"."+key, schema)
		properties(schema, at+"."+key, fn)
	}
}
