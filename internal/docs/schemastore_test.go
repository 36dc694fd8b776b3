package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/serverconfig"
)

// schemaStore is the folder with the files for SchemaStore. Below it they have the paths of its repository.
const (
	schemaStore = root + "/docs/schemastore"
	draft7      = "http://json-schema.org/draft-07/schema#"
)

// A stored is a schema for SchemaStore.
type stored struct {
	name        string // of its file, without the extension
	title       string // in the catalog
	description string
	files       []string // patterns of the paths that it is for
	schema      map[string]any
	load        func(t *testing.T, path string) error // loads a file as our programs do
}

func storedSchemas() []stored {
	return []stored{
		{
			"foreman-action", "Foreman Action", "Configuration and rule files of Foreman, an issue triage action for GitHub",
			[]string{"**/" + config.DefaultPath, "**/" + config.OtherPath, "**/.github/foreman/*.yml", "**/.github/foreman/*.yaml"},
			config.Schema(),
			func(t *testing.T, path string) error {
				t.Helper()
				_, err := config.Load(t.Context(), oneFile(path), config.Spec{Path: "f.yml", Tests: true, Getenv: func(string) string { return "x" }})
				return err
			},
		},
		{
			"foremand", "foremand", "Configuration of foremand, the server of Foreman between GitHub and agents",
			[]string{"**/foremand.yml", "**/foremand.yaml", "**/foremand/config.yml", "**/foremand/config.yaml"},
			serverconfig.Schema(),
			func(t *testing.T, path string) error {
				t.Helper()
				_, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path, Home: "/home/bot", Lookup: anySecret})
				return err
			},
		},
	}
}

// anySecret returns a value for each variable that a file may use.
func anySecret(name string) (string, bool) {
	return strings.Repeat("x", 32), name != "GITHUB_API_URL"
}

// oneFile is the source of a configuration that is one file of the disk.
type oneFile string

// Read implements config.Files.
func (f oneFile) Read(context.Context, string) ([]byte, error) { return os.ReadFile(string(f)) }

// Glob implements config.Files.
func (oneFile) Glob(context.Context, string) ([]string, error) { return nil, nil }

func (s stored) url() string { return "https://www.schemastore.org/" + s.name + ".json" }

// draft7 returns the schema as draft 7, which SchemaStore requires. Both drafts have the keywords that it
// uses.
func (s stored) draft7() map[string]any {
	out := maps.Clone(s.schema)
	out["$schema"], out["$id"], out["description"] = draft7, s.url(), s.description+"."
	return out
}

// catalogEntry is an entry in SchemaStore's list of schemas.
type catalogEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	FileMatch   []string `json:"fileMatch"`
	URL         string   `json:"url"`
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

// TestSchemaStoreFiles checks that the files for SchemaStore match the schemas of our programs; -update
// rewrites them.
func TestSchemaStoreFiles(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{}
	var catalog []catalogEntry
	for _, s := range storedSchemas() {
		want["src/schemas/json/"+s.name+".json"] = indented(t, s.draft7())
		catalog = append(catalog, catalogEntry{s.title, s.description, s.files, s.url()})
	}
	want["catalog-entries.json"] = indented(t, catalog)
	for name, want := range want {
		path := filepath.Join(schemaStore, filepath.FromSlash(name))
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
			t.Errorf("%s: run go test ./internal/docs -run SchemaStore -update (-want +got):\n%s", name, diff)
		}
	}
}

// TestSchemaStoreCases validates the test files for SchemaStore with the schemas as draft 7. It compares the
// results with those of loading the files.
func TestSchemaStoreCases(t *testing.T) {
	t.Parallel()
	for _, s := range storedSchemas() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(indented(t, s.draft7())))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(s.url(), doc); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile(s.url())
		if err != nil {
			t.Fatal(err)
		}
		for folder, valid := range map[string]bool{"test": true, "negative_test": false} {
			paths, err := filepath.Glob(filepath.Join(schemaStore, "src", folder, s.name, "*.yml"))
			if err != nil || len(paths) < 3 {
				t.Fatalf("%s, %s: got %d files, %v", s.name, folder, len(paths), err)
			}
			for _, path := range paths {
				if err := compiled.Validate(yamlDocument(t, path)); (err == nil) != valid {
					t.Errorf("%s: the schema finds %v", path, err)
				}
				if err := s.load(t, path); (err == nil) != valid {
					t.Errorf("%s: loading it finds %v", path, err)
				}
			}
		}
	}
}

// yamlDocument returns a YAML file as the value that a validator checks.
func yamlDocument(t *testing.T, path string) any {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return doc
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
	for _, s := range storedSchemas() {
		var plain map[string]any
		if err := json.Unmarshal(indented(t, s.draft7()), &plain); err != nil {
			t.Fatal(err)
		}
		look(s.name, plain, false)
		if title, _ := plain["title"].(string); strings.TrimSpace(title) == "" || plain["type"] != "object" {
			t.Errorf("%s: got the title %q of a %v", s.name, title, plain["type"])
		}
	}
}
