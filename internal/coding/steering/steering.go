// Package steering names the files from which coding agents and editors take instructions, tools and
// commands. Whoever changes one of them changes what an agent does.
package steering

import (
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// Globs returns globs of the files, for [text.MatchPath], in their usual letter case.
func Globs() []string {
	return []string{
		".foreman/**", "**/AGENTS.md", "**/AGENTS.override.md", "**/CLAUDE.md", "**/CLAUDE.local.md", "**/GEMINI.md", "**/.cursorrules", "**/.windsurfrules", "**/.mcp.json",
		"**/opencode.json*", "**/.aider.conf.yml", "**/.claude/**", "**/.opencode/**", "**/.agents/**", "**/.codex/**", "**/.gemini/**", "**/.cursor/**",
		".github/copilot-instructions.md", ".github/instructions/**", ".github/prompts/**", ".github/agents/**",
		"**/.vscode/**", "**/*.code-workspace", "**/.devcontainer/**", "**/.devcontainer.json",
	}
}

// Matches reports whether a path names such a file, or something in place of a folder of them. The
// case of letters is ignored.
func Matches(path string) bool {
	path = strings.ToLower(path)
	for _, glob := range Globs() {
		glob = strings.ToLower(glob)
		if text.MatchPath(glob, path) || text.MatchPath(strings.TrimSuffix(glob, "/**"), path) {
			return true
		}
	}
	return false
}
