package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	buildconfig "github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/docs"
	"github.com/org/foreman-action/protocol"
)

type docsPage = docs.Page

// testedElsewhere lists, by page, the markers of blocks that are tested in another package,
// beside the code that they describe.
var testedElsewhere = map[string]map[string]string{
	"README.md":              {"run": "readme_test.go", "run output": "readme_test.go", "test": "readme_test.go"},
	"docs/server/try.md":     {"walk": "cmd/foremand/walk_test.go", "walk output": "cmd/foremand/walk_test.go"},
	"docs/server/install.md": {"unit": "cmd/foremand/unit_test.go"},
}

// markerKnown reports whether a test reads the blocks with the marker of b on a page.
func markerKnown(page string, b docs.Block) bool {
	return b.Marker == "" || testedElsewhere[page][b.Marker] != "" || compared(b) || b.Marker == "go output" || b.Marker == appProgram || b.Marker == emptyFolder ||
		strings.HasPrefix(b.Marker, "not run: ") || strings.HasPrefix(b.Marker, "file ")
}

// TestMarkerKnown checks that a marker is accepted only on the page whose test reads it.
func TestMarkerKnown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		page, marker string
		want         bool
	}{
		{"README.md", "run", true},
		{"docs/server/try.md", "run", false},
		{"docs/server/try.md", "walk", true},
		{"README.md", "walk", false},
		{"docs/rules.md", "unit", false},
		{"docs/rules.md", "not run: it needs a token", true},
		{"docs/rules.md", "rum", false},
	}
	for _, tt := range tests {
		if got := markerKnown(tt.page, docs.Block{Marker: tt.marker}); got != tt.want {
			t.Errorf("%s on %s: got %v, want %v", tt.marker, tt.page, got, tt.want)
		}
	}
}

// TestTestedElsewhere checks that the pages, markers and tests in testedElsewhere exist.
func TestTestedElsewhere(t *testing.T) {
	t.Parallel()
	for page, markers := range testedElsewhere {
		src, ok := pages(t)[page]
		for marker, test := range markers {
			if !ok || !strings.Contains(string(src), "<!-- "+marker+" -->") {
				t.Errorf("%s has no marker %q", page, marker)
			}
			if _, err := os.Stat(filepath.Join("../..", test)); err != nil {
				t.Error(err)
			}
		}
	}
}

// parts lists, by page, the YAML blocks that are only a part of a file. Each has a text that the
// block contains, and the test of the whole file.
var parts = map[string]map[string]string{
	"docs/build.md":             {"builder:\n  command:": "whole file below", "sandbox: docker": "whole file below"},
	"docs/server/containers.md": {"container:\n      env:": "whole file below"},
	"docs/server/metrics.md":    {"scrape_configs:": "internal/server/telemetry/docs_test.go"},
	"docs/command-line.md":      {"foreman-rules-check": "internal/e2e/precommit_test.go"},
	"docs/contribflow.md":       {"limits:": "internal/scoring/docs_test.go"},
}

// TestBlocks checks every block of the pages with the code that reads such a file in production.
func TestBlocks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, name string, _ []byte, page docsPage) {
		for _, b := range page.Blocks {
			if !markerKnown(name, b) {
				t.Errorf("%s: unknown marker %q; package docs lists them", at(name, b), b.Marker)
			}
			var err error
			switch b.Lang {
			case "yaml":
				err = checkYAML(t, name, b)
			case "json":
				err = checkJSON(b.Text)
			case "go":
				err = checkGo(t, page, b)
			case "sh", "text", "markdown":
				// Commands and their outputs. TestWalk, TestCommands and the tests of
				// testedElsewhere check them.
			case "mermaid", "nginx":
				// No program of this repository reads them.
			case "ini", "jsonc":
				if b.Marker != "unit" && name != "docs/contribflow.md" {
					err = errors.New("no test reads it")
				}
			default:
				err = errors.New("a block without a known language")
			}
			if err != nil {
				t.Errorf("%s: %v", at(name, b), err)
			}
		}
	})
}

// checkYAML parses a block of YAML. Its keys determine the kind of file.
func checkYAML(t *testing.T, name string, b docs.Block) error {
	t.Helper()
	var keys map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(b.Text), &keys); err != nil && !strings.HasPrefix(b.Text, "- id:") {
		return err
	}
	has := func(key string) bool { _, ok := keys[key]; return ok }
	for word := range parts[name] {
		if strings.Contains(b.Text, word) && !has("version") {
			return nil
		}
	}
	switch {
	case name == "docs/rules.md", strings.HasPrefix(name, "docs/rules/"): // generated; rules/internal/docgen runs its examples
		return nil
	// Checked in .ci/lint (workflows) and internal/server/telemetry (alerts).
	case has("jobs"), has("groups"):
		return nil
	case has("identity"):
		return checkServer(t, b.Text)
	case has("builder"):
		_, err := buildconfig.Parse([]byte(b.Text))
		return err
	case has("version"):
		return checkRules(t, b.Text)
	// Imported by TestWalk.
	case b.File() != "" && strings.HasPrefix(filepath.Base(b.File()), "labeler."):
		return nil
	case len(keys) == 0 && strings.HasPrefix(b.Text, "# yaml-language-server: $schema="):
		return nil
	}
	return errors.New("no test knows this YAML: make it a whole file, or add it to parts")
}

// checkRules parses a configuration, and runs the tests in it. It cannot read other files.
func checkRules(t *testing.T, text string) error {
	t.Helper()
	text = strings.NewReplacer("include: [.github/foreman/*.yml]", "", "extends: octo-org/.github:foreman.yml@v1", "", "disable: [crash]", "").Replace(text)
	c, err := config.Parse("foreman.yml", []byte(text), nil)
	if err != nil {
		return err
	}
	for _, w := range c.Warnings {
		if !strings.Contains(w.Error(), "differs from the original") {
			return w
		}
	}
	if !strings.Contains(text, "\ntests:") {
		return nil
	}
	path := filepath.Join(t.TempDir(), "foreman.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	var out strings.Builder
	if code := cli.Main(t.Context(), process.Env{Stdout: &out, Stderr: &out}, []string{"rules", "test", path}); code != 0 {
		return errors.New(out.String())
	}
	return nil
}

func checkServer(t *testing.T, text string) error {
	t.Helper()
	dir := t.TempDir()
	path, rules := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "rules")
	if err := errors.Join(
		os.WriteFile(path, []byte(text), 0o600),
		os.Mkdir(rules, 0o700), os.WriteFile(filepath.Join(rules, "own.yml"), []byte("version: 1\n"), 0o600), // for include
	); err != nil {
		return err
	}
	s, err := serverconfig.Load(t.Context(), serverconfig.Spec{
		Path: path, Home: "/home/me", Lookup: func(name string) (string, bool) { return "a-secret-of-32-characters-or-more", name != "GITHUB_API_URL" },
	})
	if err == nil && len(s.Warnings) > 0 {
		err = s.Warnings[0]
	}
	return err
}

// checkJSON parses a sequence of JSON values.
func checkJSON(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// checkGo builds a whole program in this module. If the page shows the program's output, checkGo
// compares it with what the program writes to standard output.
func checkGo(t *testing.T, page docsPage, b docs.Block) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	program, err := buildGo(t, b)
	if err != nil {
		return err
	}
	own := false // whether the block belongs to this program: it follows the program, before the next one
	for _, shown := range page.Blocks {
		if shown.Lang == "go" {
			own = shown == b
		}
		if shown.Marker != "go output" || !own {
			continue
		}
		var out, log strings.Builder
		c := exec.CommandContext(ctx, program)
		c.Stdout, c.Stderr = &out, &log
		if err := c.Run(); err != nil || out.String() != shown.Text {
			return errors.Join(err, fmt.Errorf("the program prints\n%s\nand logs\n%s", out.String(), log.String()))
		}
	}
	return nil
}

// buildGo builds a whole program in this module, and returns its path.
func buildGo(t *testing.T, b docs.Block) (program string, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if !strings.Contains(b.Text, "package main\n") {
		return "", errors.New("want a whole program")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {absolute(t, "testdata/program/main.go"): source}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{source: b.Text, source + ".json": string(overlay)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-overlay", source+".json", "-o", program, "./testdata/program").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return program, nil
}

// TestActions checks that the table of docs/actions.md contains each action and its parameters.
func TestActions(t *testing.T) {
	t.Parallel()
	src := string(pages(t)["docs/actions.md"])
	_, table, _ := strings.Cut(src, "<!-- actions -->\n")
	table, _, ok := strings.Cut(table, "<!-- /actions -->")
	if !ok {
		t.Fatal("docs/actions.md has no table of actions")
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			rows[strings.Trim(strings.TrimSpace(name), "`")] = cells[2]
		}
	}
	specs := protocol.ActionSpecs()
	for _, spec := range specs {
		row, ok := rows[spec.Name]
		if !ok {
			t.Errorf("docs/actions.md lacks %s", spec.Name)
		}
		for _, p := range spec.Params {
			if !strings.Contains(row, "`"+p.Name+"`") && p.Name != "once" {
				t.Errorf("docs/actions.md: %s lacks the parameter %s", spec.Name, p.Name)
			}
			for _, value := range p.Enum {
				if !strings.Contains(row, "`"+value+"`") && p.Name != "veto" {
					t.Errorf("docs/actions.md: %s lacks the value %s of %s", spec.Name, value, p.Name)
				}
			}
		}
	}
	if len(rows) != len(specs)+2 { // plus the heading and the line below it
		t.Errorf("docs/actions.md has %d rows, want %d actions", len(rows)-2, len(specs))
	}
}
