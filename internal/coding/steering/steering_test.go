package steering_test

import (
	"testing"

	"github.com/org/foreman-action/internal/coding/steering"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"CLAUDE.md": true, "a/b/claude.MD": true, "AGENTS.md": true, ".claude": true, "a/.claude/settings.json": true, ".mcp.json": true, "x/.gemini/settings.json": true, ".cursorrules": true,
		"opencode.jsonc": true, ".foreman/build.yml": true, ".github/copilot-instructions.md": true, ".github/prompts/x.md": true, ".vscode/tasks.json": true, ".devcontainer/x/devcontainer.json": true,
		"README.md": false, "docs/claude.md.txt": false, "agents.go": false, "src/.claudette/x": false, "a/.foreman/x": false, ".github/workflows/ci.yml": false, "vscode/x": false,
	} {
		if got := steering.Matches(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
