package ecosystem_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/testkit/golden"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestDetect runs the cases in testdata/detect. Each has the files of a repository below repo/,
// and the expected detection in "want". The part "options" has lines "changed FILE", "accept" and
// "image KEY NAME".
func TestDetect(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/detect", *update, func(t *testing.T, c *golden.Case) {
		repo := fstest.MapFS{}
		for _, name := range c.Names() {
			if file, ok := strings.CutPrefix(name, "repo/"); ok {
				repo[file] = &fstest.MapFile{Data: c.Get(name)}
			}
		}
		tree, err := ecosystem.FromFS(repo)
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, string(c.Get("options")))
		d, err := ecosystem.Detect(tree, o)
		if err != nil {
			t.Fatal(err)
		}
		c.Want(t, "want", describe(d))
	})
}

func options(t *testing.T, text string) ecosystem.Options {
	t.Helper()
	o := ecosystem.Options{Images: map[string]string{}}
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); words[0] {
		case "changed":
			o.Changed = append(o.Changed, words[1])
		case "accept":
			o.AcceptLockfiles = true
		case "image":
			o.Images[words[1]] = words[2]
		default:
			t.Fatalf("unknown option %q", line)
		}
	}
	return o
}

// describe prints a detection, one fact a line.
func describe(d ecosystem.Detection) string {
	var b strings.Builder
	if d.Context.PackageManager != nil {
		fmt.Fprintf(&b, "manager %s\n", *d.Context.PackageManager)
	}
	for _, of := range []struct {
		name  string
		lines []string
	}{
		{"guidance", d.Context.GuidanceFiles},
		{"script", d.Context.PackageScripts},
		{"tests", d.Context.TestLayouts},
		{"rule", d.Context.GeneratedFileRules},
	} {
		for _, line := range of.lines {
			fmt.Fprintf(&b, "%s %s\n", of.name, line)
		}
	}
	for _, of := range []struct {
		name     string
		commands []ecosystem.Command
	}{{"setup", d.Setup}, {"run", d.Commands}} {
		for _, c := range of.commands {
			fmt.Fprintf(&b, "%s %s [%s: %s]", of.name, c.Line, c.Ecosystem, c.Image)
			if c.Dir != "" {
				fmt.Fprintf(&b, " in %s", c.Dir)
			}
			b.WriteByte('\n')
			for _, v := range c.Env {
				fmt.Fprintf(&b, "  env %s\n", v)
			}
			if c.Block != nil {
				fmt.Fprintf(&b, "  blocked: %s\n  remedy: %s\n", c.Block.Reason, c.Block.Remedy)
			}
		}
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	return b.String()
}

// TestDocs checks that docs/contribflow.md has every setup, image and key.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/contribflow.md")
	if err != nil {
		t.Fatal(err)
	}
	mentions := func(text string) {
		if !strings.Contains(string(page), "`"+text) {
			t.Errorf("docs/contribflow.md has no `%s`", text)
		}
	}
	for _, key := range ecosystem.Ecosystems() {
		mentions(key + "`")
	}
	cases, err := filepath.Glob("testdata/detect/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range cases {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			setup, of, _ := strings.Cut(strings.TrimSpace(line), " [")
			setup, ok := strings.CutPrefix(setup, "setup ")
			if !ok || strings.Contains(setup, "--all-packages") {
				continue
			}
			before, _, _ := strings.Cut(setup, " -r ")
			mentions(before)
			_, image, _ := strings.Cut(of, ": ")
			image, _, _ = strings.Cut(image, "]")
			if !strings.HasPrefix(image, "example/") {
				mentions(image + "`")
			}
		}
	}
}

// TestReadErrors distinguishes errors about one file from errors that end the detection.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	unreachable := errors.New("connection refused")
	for name, err := range map[string]error{"gone": fs.ErrNotExist, "large": fmt.Errorf("%w: a pipe", ecosystem.ErrUnreadable), "network": unreachable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := 0
			d, got := ecosystem.Detect(ecosystem.Tree{
				Files: []string{"go.mod", "package.json", "pyproject.toml", "../outside", "/etc/passwd"},
				Read:  func(string, int64) ([]byte, error) { reads++; return nil, err },
			}, ecosystem.Options{})
			if err == unreachable {
				if !errors.Is(got, unreachable) || reads != 1 {
					t.Errorf("got %v after %d reads", got, reads)
				}
				return
			}
			if got != nil || len(d.Warnings) == 0 {
				t.Errorf("got %v, warnings %v", got, d.Warnings)
			}
		})
	}
}

// TestLazy checks that Detect reads only files that affect the result, because each read of a
// remote tree is a request.
func TestLazy(t *testing.T) {
	t.Parallel()
	var read []string
	_, err := ecosystem.Detect(ecosystem.Tree{
		Files: []string{"package.json", "package-lock.json", "README.md", "src/index.js", "tests/a.test.js", ".gitattributes", "go.mod", "go.sum", "pkg/go.mod"},
		Read: func(name string, _ int64) ([]byte, error) {
			read = append(read, name)
			return []byte("{}"), nil
		},
	}, ecosystem.Options{})
	slices.Sort(read)
	if want := []string{".gitattributes", "package.json"}; err != nil || !slices.Equal(read, want) {
		t.Errorf("read %v, want %v: %v", read, want, err)
	}
}

// TestHostileTOML reads files for which the TOML parser would need minutes. Detect refuses them
// quickly.
func TestHostileTOML(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"keys":     strings.Repeat("a.", 100_000) + "a = 1",
		"header":   "[" + strings.Repeat("a.", 100_000) + "a]",
		"brackets": "a = " + strings.Repeat("[", 100_000),
		"size":     strings.Repeat("#\n", 1<<18),
	} {
		tree, err := ecosystem.FromFS(fstest.MapFS{"pyproject.toml": &fstest.MapFile{Data: []byte(data)}})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := ecosystem.Detect(tree, ecosystem.Options{}); err != nil || len(d.Warnings) != 2 || !strings.HasPrefix(d.Warnings[0], "pyproject.toml is ignored") {
			t.Errorf("%s: got warnings %v, %v", name, d.Warnings, err)
		}
	}
}

// TestSymlinks checks that links are not followed.
func TestSymlinks(t *testing.T) {
	t.Parallel()
	tree, err := ecosystem.FromFS(fstest.MapFS{
		"package.json": &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink},
		".git/config":  &fstest.MapFile{},
		"a.txt":        &fstest.MapFile{},
	})
	if err != nil || !slices.Equal(tree.Files, []string{"a.txt"}) {
		t.Errorf("got %v, %v", tree.Files, err)
	}
}

// FuzzDetect uses manifests with any content. The commands are always ones that this package
// defines.
func FuzzDetect(f *testing.F) {
	names := []string{
		"package.json", "pnpm-workspace.yaml", "go.mod", "pyproject.toml", "requirements.txt", "Cargo.toml", "pom.xml",
		"Makefile", "yarn.lock", ".gitattributes", "x.csproj", "Gemfile", "composer.json", "mix.exs", "Package.swift", "deno.jsonc",
		"CMakeLists.txt", "justfile",
	}
	f.Add(0, `{"scripts":{"test":"x","$(id)":"y"},"workspaces":{"packages":["a/*"]},"dependencies":{"a":"1"}}`)
	f.Add(1, "packages:\n- 'a/**'\n")
	f.Add(2, "module x\nrequire (\n\ta v1\n)\nreplace a => ./a\n")
	f.Add(3, "[project]\ndependencies = ['a']\n[tool.ruff]\n[tool.uv.workspace]\nmembers = ['a']\n")
	f.Add(4, "a==1 \\\n --hash=sha256:00\n-r requirements.txt\n")
	f.Add(5, "[workspace]\nmembers = ['a']\n[dependencies]\nb = '1'\n")
	f.Add(6, "<project><modules><module>a</module></modules></project>")
	f.Add(7, "test lint: all\n\techo\ndefine x\nb:\nendef\ncheck:\n")
	f.Add(8, "__metadata:\n")
	f.Add(9, "*.go linguist-generated\n")
	f.Add(12, `{"require": {"a/b": "$(id)"}}`)
	f.Add(17, "test $(id):\n")
	f.Add(3, strings.Repeat("[", 1000))
	f.Fuzz(func(t *testing.T, kind int, content string) {
		repo := fstest.MapFS{}
		for i, name := range names {
			data := ""
			if i == (kind%len(names)+len(names))%len(names) {
				data = content
			}
			repo[name] = &fstest.MapFile{Data: []byte(data)}
			repo["a/"+name] = &fstest.MapFile{Data: []byte(data)}
		}
		tree, err := ecosystem.FromFS(repo)
		if err != nil {
			t.Fatal(err)
		}
		d, err := ecosystem.Detect(tree, ecosystem.Options{Changed: []string{"a/b"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Commands) == 0 {
			t.Error("no command")
		}
		for _, c := range append(d.Setup, d.Commands...) {
			if strings.ContainsAny(c.Line, "$`;&|<>\"'\\\n()") || c.Dir != "" && c.Dir != "a" {
				t.Errorf("a command has a text of the repository: %+v", c)
			}
		}
		for _, text := range append(append(d.Warnings, d.Context.PackageScripts...), d.Context.GeneratedFileRules...) {
			if strings.ContainsAny(text, "\x00\x1b\n\r") || len(text) > 2000 {
				t.Errorf("a text has control characters, or is long: %q", text)
			}
		}
	})
}
