package serverconfig_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/queue"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// hidden is a part of every secret in testdata, both literal secrets and those from variables. It
// must not appear in any output.
const hidden = "hunter"

func lookup(name string) (string, bool) {
	v, ok := map[string]string{
		"GITHUB_TOKEN": "hunter-token", "HOOK": "hunter-hook-0123456789", "A": "one", "B": "two", "EMPTY": "",
		"LINE": "hunter-line-0123456789\n", "PORT": "9100", "NOT_A_PORT": "hunter", "GITHUB_API_URL": "https://ghe.example.com/api/v3", "INTERVAL": " 30 ",
	}[name]
	return v, ok
}

// TestGolden loads the config.yaml of every archive in testdata, with the other files of the
// archive. It compares the settings, or all mistakes, with the archive's want.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if last := len(ar.Files) - 1; ar.Files[last].Name == "want" {
				want, ar.Files = string(ar.Files[last].Data), ar.Files[:last]
			}
			got := load(t, ar)
			if strings.Contains(got, hidden) {
				t.Errorf("a secret is shown:\n%s", got)
			}
			if good := strings.HasPrefix(filepath.Base(file), "ok_"); good != strings.HasPrefix(got, "{") {
				t.Errorf("good %v, and got:\n%s", good, got)
			}
			if *update {
				ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefaultClaim checks that the default in the configuration and its description equal the
// default of the queue. They cannot share a constant, because the tag of a field must be a literal.
func TestDefaultClaim(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("identity: {github_token: t, github_user: bot}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path, Lookup: lookup, Home: "/home/bot"})
	if err != nil || s.Queue.ClaimTimeout.Duration() != queue.DefaultClaim {
		t.Errorf("got %v, %v, want %s", s.Queue.ClaimTimeout, err, queue.DefaultClaim)
	}
	schema, err := json.Marshal(serverconfig.Schema())
	if want := fmt.Sprintf("without a heartbeat; default %d.", queue.DefaultClaim/time.Second); err != nil || !strings.Contains(string(schema), want) {
		t.Errorf("the schema has no %q: %v", want, err)
	}
}

// load returns a description of the settings or of the problems of an archive's files.
func load(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range ar.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: filepath.Join(dir, "config.yaml"), Lookup: lookup, Home: "/home/bot"})
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") + "\n"
	}
	checkSchema(t, ar.Files[0].Data)
	return describe(t, s, dir)
}

// describe returns a text with all settings. Secrets appear as placeholders.
func describe(t *testing.T, s *serverconfig.Config, dir string) string {
	t.Helper()
	var b strings.Builder
	c := *s
	for i := range c.Repos {
		for k := range c.Repos[i].Agents {
			c.Repos[i].Agents[k].Config = nil
		}
	}
	c.Runner, c.Warnings = nil, nil
	out, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%s\n", out)
	c.Identity.App = nil // a pointer, whose address would be printed
	fmt.Fprintf(&b, "%#v %+v\n", c.Identity, c.Server.Credentials)
	fmt.Fprintf(&b, "mode %q, allow_close %v, rules %v, llm %v, files %v\n",
		s.Runner.Mode, s.Runner.Policy.AllowClose, s.Runner.Rules.Len(), s.Runner.LLM, s.Runner.Files)
	for _, w := range s.Warnings {
		fmt.Fprintln(&b, strings.ReplaceAll(w.Error(), dir+string(filepath.Separator), ""))
	}
	return b.String()
}

// checkSchema validates a file that loads with the schema, using an independent validator.
func checkSchema(t *testing.T, file []byte) {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(file, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(value); err != nil {
		t.Errorf("a file that loads does not fit the schema: %v", err)
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := json.Marshal(serverconfig.Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(serverconfig.SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(serverconfig.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every key of the server's own sections has a description, so that an editor shows one.
func TestSchemaDescribesEveryKey(t *testing.T) {
	t.Parallel()
	var walk func(path string, node any)
	walk = func(path string, node any) {
		m, ok := node.(map[string]any)
		if !ok {
			return
		}
		properties, _ := m["properties"].(map[string]any)
		for key, value := range properties {
			at := path + "." + key
			if v, ok := value.(map[string]any); ok && v["description"] == nil && !strings.HasPrefix(at, ".repos.agents.config.") && key != "version" {
				t.Errorf("%s has no description", at)
			}
			switch at {
			case ".policy", ".rules", ".forms", ".tables", ".tests", ".limits", ".labels", ".include":
			default:
				walk(at, value)
			}
		}
		walk(path, m["items"])
	}
	walk("", serverconfig.Schema())
}

func TestLoadNamesTheFileThatIsMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nowhere/config.yaml", "/nowhere/"} {
		_, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path})
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Fatal(err)
		}
	}
}

// FuzzLoad checks that every file loads or has mistakes with positions, and that nothing reveals
// the values of variables.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if strings.Contains(string(src), hidden) {
			t.Skip("the file itself holds the word")
		}
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path, Lookup: lookup})
		if (s == nil) == (err == nil) {
			t.Fatalf("settings %v, error %v", s, err)
		}
		if err == nil {
			return
		}
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("a variable's value is shown: %v", err)
		}
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok && len(ps) == 0 {
			t.Error("no problem is told")
		}
	})
}
