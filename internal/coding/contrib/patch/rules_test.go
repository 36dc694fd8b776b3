package patch

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/scoring/evidence"
)

func TestSensitivePaths(t *testing.T) {
	t.Parallel()
	globs := []string{"migrations/", "*.sql", "/ops/**/secrets.yml"}
	for _, name := range []string{
		".github/workflows/ci.yml", ".GitHub/Workflows/CI.yml", "action.yml", "sub/action.yaml", ".env", "web/.env.local", "a/server.pem", "id_rsa.pub", ".npmrc", "x/.pypirc",
		"package-lock.json", "x/yarn.lock", "go.sum", "Cargo.lock", "Dockerfile", "Dockerfile.dev", "docker-compose.override.yml", "main.tf", "CODEOWNERS", ".github/CODEOWNERS",
		"SECURITY.md", "LICENSE", "LICENSE.txt", "internal/auth/token.go", "src/crypto/aes.js", "pkg/oauth.go", ".gitmodules", "sub/.gitattributes", ".husky/pre-commit",
		"setup.py", "pkg/conftest.py", "build.rs", "binding.gyp", ".pnpmfile.cjs", ".cargo/config.toml", "gradlew", "gradle/wrapper/gradle-wrapper.properties", ".mvn/maven.config", "Makefile",
		"sub/justfile", ".travis.yml", "azure-pipelines.yml", ".buildkite/pipeline.yml", ".vscode/tasks.json", ".devcontainer/devcontainer.json", ".claude/settings.json", "a/CLAUDE.md", "AGENTS.md",
		".mcp.json", ".opencode/agents/x.md", ".github/copilot-instructions.md", ".envrc", "lefthook.yml", ".yarn/releases/yarn.cjs", "ext/extconf.rb",
		"migrations/1.txt", "db/x.SQL", "ops/a/b/secrets.yml", "ops/secrets.yml",
	} {
		if !isSensitive(name, globs) {
			t.Errorf("%s is not sensitive", name)
		}
	}
	for _, name := range []string{"README.md", "main.go", "authors.md", "docs/environment.md", "src/author/x.go", "keys.go", "workflows/ci.yml", "db/migrations.md", "licensing.go", "package.json"} {
		if isSensitive(name, globs) {
			t.Errorf("%s is sensitive", name)
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want map[string]string
		ok   bool
	}{
		{"", map[string]string{}, true},
		{`{"scripts": {"test": "x", "postinstall": "y"}}`, map[string]string{"postinstall": "y"}, true},
		{`{"scripts": {"prepare": ["x"]}}`, nil, false},
		{`{"scripts": {"postinstall": "y"}, "Scripts": null, "SCRIPTS": {"postinstall": "z"}}`, map[string]string{"postinstall": "y"}, true},
		{`{"scripts": {"postinstall": "a"}, "scripts": {"postinstall": "y"}}`, map[string]string{"postinstall": "y"}, true},
		{`{"Scripts": {"postinstall": "y"}}`, map[string]string{}, true},
		{`{"scripts": null}`, map[string]string{}, true},
		{`[]`, nil, false},
		{`{"scripts": `, nil, false},
		{`{"scripts": []}`, nil, false},
	}
	for _, tt := range tests {
		got, ok := scripts([]byte(tt.in))
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s: got %v, %v", tt.in, got, ok)
		}
	}
}

func TestTelling(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"## Existing setup guide", "from here on everything is documented.", "return the first of them", "a b c 1234567890123"} {
		if !telling(line) {
			t.Errorf("%q is left out", line)
		}
	}
	for _, line := range []string{
		"short one here", "averylongwordbutone another", "import { a, b } from 'c'", "from os import path, sep", "#include <a/b/c.h> // x", "}) { ( [ ] } ) ; ; ; ; ; ;",
		"const a = require('abc def ghi')", "a line with\x00 nothing in it", "a line that is no\xfftext at all", strings.Repeat("word ", 300),
	} {
		if telling(line) {
			t.Errorf("%q is looked for", line)
		}
	}
}

// added makes the section of a file with some lines.
func added(lines ...string) section {
	var s section
	for i, l := range lines {
		s.added = append(s.added, line{i + 1, []byte(l)})
	}
	return s
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	changes := []git.Raw{{Path: "a.md", Mode: git.ModeFile}, {Path: "dist/x.js", Mode: git.ModeFile}, {Path: "b.md", Mode: git.ModeFile}, {Path: "link", Mode: git.ModeLink}}
	gone := section{deleted: [][]byte{[]byte("  a line that only moves")}}
	got := candidates(changes, []section{
		added("the first line of text", "", "{", "a line that only moves"), added("a line of generated text"), gone, added("the target of a link is text"),
	})
	if len(got) != 1 || got[0].text != "the first line of text" || got[0].path != "a.md" {
		t.Errorf("got %+v", got)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 50, 51, 60, 1000} {
		var all []probe
		for i := range n {
			all = append(all, probe{order: i})
		}
		chosen := choose(all)
		if len(chosen) > maxProbes || n <= maxProbes && len(chosen) != n || n > maxProbes && len(chosen) < maxProbes-block {
			t.Errorf("%d lines: %d chosen", n, len(chosen))
		}
		seen := map[int]bool{}
		for _, p := range chosen {
			if seen[p.order] {
				t.Errorf("%d lines: %d is chosen twice", n, p.order)
			}
			seen[p.order] = true
		}
		if !seen[0] || !seen[n-1] {
			t.Errorf("%d lines: the first or the last one is not looked for", n)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	const base = "0123"
	probes := []probe{
		{path: "new.md", order: 1, text: "the first line of text"},
		{path: "new.md", order: 2, text: "the second line of text"},
		{path: "new.md", order: 3, text: "the third line of text"},
		{path: "new.md", order: 9, text: "a line on its own"},
		{path: "new.md", order: 11, text: "everybody writes this"},
		{path: "new.md", order: 12, text: "a line that is new"},
	}
	var out strings.Builder
	row := func(path string, n int, text string) {
		out.WriteString(base + ":" + path + "\x00" + strconv.Itoa(n) + "\x00" + text + "\n")
	}
	for i, p := range probes[:3] {
		row("other.md", 40+i, "first in another place: "+p.text)
		row("old.md", 10+i, "- "+p.text)
	}
	row("old.md", 20, "a line on its own, token ghp_"+strings.Repeat("a1", 18))
	for i := range 6 {
		row("idiom.md", i, "everybody writes this")
	}
	out.WriteString("no row\nother:x\x001\x00a line that is new\n")
	locate(probes, base, []byte(out.String()))
	want := []contract.Duplicate{
		{Path: "new.md", AddedText: "the first line of text", ExistingLocation: "HEAD:other.md:40:first in another place: the first line of text", Confidence: evidence.High, Reason: "3 added lines in a row already appear in repository history."},
		{Path: "new.md", AddedText: "a line on its own", ExistingLocation: "HEAD:old.md:20:a line on its own, token ***", Confidence: evidence.Medium, Reason: "Added content already appears in repository history."},
	}
	if diff := cmp.Diff(want, report(probes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a b": "a b", "é\n": "é\n", "\xff\"\\\x01x": `"\377\"\\\001x"`} {
		if got := Name(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	shown, truncated := cut([]byte(strings.Repeat("0123456789abcde\n", maxShown/16+1)))
	if !truncated || len(shown) != maxShown {
		t.Errorf("got %d bytes, %v", len(shown), truncated)
	}
	if shown, truncated := cut([]byte("+ghp_" + strings.Repeat("a1", 18) + "\xff\n")); truncated || shown != "+***\uFFFD\n" {
		t.Errorf("got %q", shown)
	}
}
