package wiring_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/cli/wiring"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

// written writes the files for every agent to a new folder. It returns the folder and the names of
// the files.
func written(t *testing.T) (string, []string) {
	t.Helper()
	dir := t.TempDir()
	done, err := wiring.Write(workdir.Dir(dir), wiring.Names())
	if err != nil || len(done.Kept) > 0 {
		t.Fatalf("kept %v, %v", done.Kept, err)
	}
	return dir, done.New
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestExamples validates every example of a result in the instructions.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir, _ := written(t)
	parse := map[string]func(string) error{
		"builder":   func(s string) error { _, err := handoff.ParseBuilder([]byte(s)); return err },
		"inspector": func(s string) error { _, err := handoff.ParseInspector([]byte(s)); return err },
	}
	for role, f := range parse {
		blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(read(t, dir, ".foreman/"+role+".md"), -1)
		if len(blocks) != 2 {
			t.Errorf("%s.md shows %d results", role, len(blocks))
		}
		for _, b := range blocks {
			if err := f(b[1]); err != nil {
				t.Errorf("%s.md: %v", role, err)
			}
		}
	}
}

// TestFrontMatter reads the head of each skill and agent, as the agents do.
func TestFrontMatter(t *testing.T) {
	t.Parallel()
	dir, names := written(t)
	count := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".md") || strings.Count(name, "/") < 2 {
			continue
		}
		count++
		head, body, ok := strings.Cut(strings.TrimPrefix(read(t, dir, name), "---\n"), "\n---\n")
		var meta struct{ Name, Description string }
		if err := yaml.Unmarshal([]byte(head), &meta); err != nil || !ok || meta.Description == "" || strings.TrimSpace(body) == "" {
			t.Errorf("%s: %v, %+v", name, err, meta)
		}
		if folder := filepath.Base(filepath.Dir(name)); filepath.Base(name) == "SKILL.md" && meta.Name != folder {
			t.Errorf("%s has the name %q", name, meta.Name)
		}
	}
	if count != 4*6+4 {
		t.Errorf("%d files with front matter", count)
	}
}

// TestReferences checks that all files and skills that the texts name are written.
func TestReferences(t *testing.T) {
	t.Parallel()
	dir, names := written(t)
	for _, name := range names {
		text := read(t, dir, name)
		for _, m := range regexp.MustCompile(`\.foreman/[a-zA-Z/_.-]+[a-z]`).FindAllString(text, -1) {
			if _, err := os.Stat(filepath.Join(dir, m)); err != nil {
				t.Errorf("%s names %s: %v", name, m, err)
			}
		}
		for _, m := range regexp.MustCompile("skill `([a-z-]+)`").FindAllStringSubmatch(text, -1) {
			if !slices.Contains(names, ".foreman/skills/"+m[1]+"/SKILL.md") {
				t.Errorf("%s names the skill %s", name, m[1])
			}
		}
		if strings.Contains(text, "PRESET") {
			t.Errorf("%s holds a placeholder of ours", name)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON", name)
		}
	}
}

// TestBuildFile checks that the configuration of the pipeline loads, and that it has lists of
// commands to fill in.
func TestBuildFile(t *testing.T) {
	t.Parallel()
	dir, _ := written(t)
	var c struct {
		Version            int
		Builder, Inspector struct{ Preset string }
		Setup              [][]string
		Checks             []struct {
			Run      []string
			Required bool
		}
		Publish struct{ Draft bool }
	}
	dec := yaml.NewDecoder(strings.NewReader(read(t, dir, ".foreman/build.yml")))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Version != 1 || c.Builder.Preset != wiring.Names()[0] || c.Inspector.Preset != wiring.Names()[0] || c.Setup == nil || c.Checks == nil || !c.Publish.Draft {
		t.Errorf("got %+v", c)
	}
}

// TestWriteTwice checks that existing files do not change, even if only some exist.
func TestWriteTwice(t *testing.T) {
	t.Parallel()
	dir, names := written(t)
	gone := names[len(names)/2]
	if err := os.Remove(filepath.Join(dir, gone)); err != nil {
		t.Fatal(err)
	}
	done, err := wiring.Write(workdir.Dir(dir), wiring.Names())
	if err != nil || !slices.Equal(done.New, []string{gone}) || len(done.Kept) != len(names)-1 {
		t.Errorf("got %+v, %v", done, err)
	}
	found := 0
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	}); err != nil || found != len(names) {
		t.Errorf("%d files, %v, want %d", found, err, len(names))
	}
}

// TestOlderPaths writes the files for opencode into a repository that has some of them where earlier
// versions of opencode looked. They are kept, and not written a second time.
func TestOlderPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	older := []string{".opencode/agent/builder.md", ".opencode/skill/check-builder-handoff/SKILL.md", ".opencode/tool/validate_builder_result.ts"}
	for _, name := range older {
		if err := programtest.Write(filepath.Join(dir, filepath.FromSlash(name)), "mine"); err != nil {
			t.Fatal(err)
		}
	}
	done, err := wiring.Write(workdir.Dir(dir), []string{"opencode"})
	if err != nil || !slices.Equal(slices.Sorted(slices.Values(done.Kept)), older) {
		t.Fatalf("kept %v, %v", done.Kept, err)
	}
	for _, name := range done.New {
		for _, of := range []string{"agents/builder.md", "skills/check-builder-handoff/", "tools/validate_builder_result.ts"} {
			if strings.HasPrefix(name, ".opencode/"+of) {
				t.Errorf("wrote %s", name)
			}
		}
	}
	for _, want := range []string{".opencode/agents/inspector.md", ".opencode/skills/check-inspector-handoff/SKILL.md", ".opencode/tools/validate_inspector_result.ts"} {
		if !slices.Contains(done.New, want) {
			t.Errorf("did not write %s", want)
		}
	}
}

// TestOpencodeTools runs the tools for opencode in node. Stand-ins replace opencode's package and
// the program, which prints the input that it receives.
func TestOpencodeTools(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	dir, names := written(t)
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := programtest.Write(path, text); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/foreman", "#!/bin/sh\necho \"$*: $(cat)\"\n")
	write("package.json", `{"type": "module"}`)
	write("node_modules/@opencode-ai/plugin/package.json", `{"name": "@opencode-ai/plugin", "type": "module", "main": "index.js"}`)
	write("node_modules/@opencode-ai/plugin/index.js", `
const any = new Proxy(() => any, { get: () => any })
export const tool = Object.assign((t) => t, { schema: any })
`)
	types := regexp.MustCompile(`(: string|: object|\?: \{ directory\?: string \})([,)]| \{)`)
	script := "process.env.PATH = process.cwd() + '/bin:' + process.env.PATH\n"
	for _, name := range names {
		if !strings.HasSuffix(name, ".ts") {
			continue
		}
		text := strings.ReplaceAll(read(t, dir, name), "command: string[]", "command")
		text = strings.ReplaceAll(types.ReplaceAllString(text, "$2"), `"../foreman"`, `"../foreman.mjs"`)
		write(strings.TrimSuffix(name, ".ts")+".mjs", text)
		if strings.Contains(name, "/tools/") {
			script += "console.log((await (await import('./" + strings.TrimSuffix(name, ".ts") + ".mjs')).default.execute({path: \"a'b\", data: undefined}, {directory: process.cwd()})))\n"
		}
	}
	script += "process.env.PATH = '/none'\nconsole.log((await import('./.opencode/foreman.mjs')).foreman(['tool', 'git_status'], {}))\n"
	write("main.mjs", script)
	cmd := exec.Command(node, "main.mjs")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	const want = `tool check-builder-handoff: {"path":"a'b"}
tool check-inspector-handoff: {"path":"a'b"}
tool git_diff_main_head: {"path":"a'b"}
tool git_status: {"path":"a'b"}
tool read_json_file: {"path":"a'b"}
validate builder: {"path":"a'b"}
validate inspector: {"path":"a'b"}
tool write_json_file: {"path":"a'b"}
{"ok":false,"errors":[{"path":"<tool>","code":"unexpected_error","message":"foreman tool git_status: spawnSync foreman ENOENT; is foreman installed and in PATH?"}]}
`
	if err != nil || string(out) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out, want)
	}
}
