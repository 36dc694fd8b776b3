package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The files for SchemaStore. Below schemaStore they have the paths of its repository.
const (
	schemaStore     = "../docs/schemastore"
	schemaStoreName = "foreman-action"
	schemaStoreURL  = "https://www.schemastore.org/" + schemaStoreName + ".json"
	draft7          = "http://json-schema.org/draft-07/schema#"
)

// catalogEntry is an entry in SchemaStore's list of schemas.
type catalogEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	FileMatch   []string `json:"fileMatch"`
	URL         string   `json:"url"`
}

// storedSchema returns the schema of this package as draft 7, which SchemaStore requires. Both
// drafts have the keywords that it uses.
func storedSchema() map[string]any {
	s := maps.Clone(Schema())
	s["$schema"], s["$id"] = draft7, schemaStoreURL
	s["description"] = "Configuration and rule files of Foreman, an issue triage action for GitHub."
	return s
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSchemaStoreFiles checks that the files for SchemaStore match the schema of this package;
// -update rewrites them.
func TestSchemaStoreFiles(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"src/schemas/json/" + schemaStoreName + ".json": storedSchema(),
		"catalog-entry.json": catalogEntry{
			"Foreman Action", "Configuration and rule files of Foreman, an issue triage action for GitHub",
			[]string{"**/" + DefaultPath, "**/" + OtherPath, "**/.github/foreman/*.yml", "**/.github/foreman/*.yaml"}, schemaStoreURL,
		},
	} {
		path, want := filepath.Join(schemaStore, filepath.FromSlash(name)), indented(t, value)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run go test ./config -update (-want +got):\n%s", name, diff)
		}
	}
}

// TestSchemaStoreCases validates the test files for SchemaStore with the schema as draft 7. It
// compares the results with those of loading the files.
func TestSchemaStoreCases(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(indented(t, storedSchema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaStoreURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaStoreURL)
	if err != nil {
		t.Fatal(err)
	}
	for folder, valid := range map[string]bool{"test": true, "negative_test": false} {
		paths, err := filepath.Glob(filepath.Join(schemaStore, "src", folder, schemaStoreName, "*.yml"))
		if err != nil || len(paths) < 3 {
			t.Fatalf("%s: got %d files, %v", folder, len(paths), err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(document(t, src)); (err == nil) != valid {
				t.Errorf("%s: the schema finds %v", path, err)
			}
			if err := load(src); (err == nil) != valid {
				t.Errorf("%s: loading it finds %v", path, err)
			}
		}
	}
}

// TestSchemaStoreForm checks for what SchemaStore and its validator reject: keywords of a later
// draft, patterns that JavaScript does not support, and descriptions that are not sentences.
func TestSchemaStoreForm(t *testing.T) {
	t.Parallel()
	later := []string{"$defs", "$dynamicRef", "dependentRequired", "dependentSchemas", "prefixItems", "unevaluatedItems", "unevaluatedProperties", "minContains"}
	onlyRE2 := regexp.MustCompile(`\(\?[a-zA-Z]|\\[AzQE]|\(\?P<`)
	var look func(path string, v any, names bool)
	look = func(path string, v any, names bool) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				for _, l := range later {
					if key == l && !names {
						t.Errorf("%s: draft 7 has no %s", path, key)
					}
				}
				if p, ok := value.(string); ok && key == "pattern" && !names && onlyRE2.MatchString(p) {
					t.Errorf("%s: JavaScript does not know the pattern %s", path, p)
				}
				look(path+"/"+key, value, !names && key == "properties")
			}
		case []any:
			for _, value := range v {
				look(path, value, false)
			}
		}
	}
	var plain any
	if err := json.Unmarshal(indented(t, storedSchema()), &plain); err != nil {
		t.Fatal(err)
	}
	look("", plain, false)
	if root := plain.(map[string]any); strings.TrimSpace(root["title"].(string)) == "" || root["type"] != "object" {
		t.Errorf("got the title %q of a %v", root["title"], root["type"])
	}
}
