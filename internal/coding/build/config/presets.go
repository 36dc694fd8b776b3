package config

import "slices"

// A known is a preset: how to call the command line of a known agent.
type known struct {
	command []string
	from    Source   // empty: a file
	model   []string // arguments that choose the model
	at      int      // index in command at which the model arguments are inserted
}

const readPrompt = "Read {{prompt_file}} and do what it asks, completely."

// preset returns the built-in settings of an agent in a role. If an Inspector can return its
// result as the final message, it has no permission to write files.
func preset(name, role string) (known, bool) {
	p, ok := map[string]known{
		"opencode/builder":   {command: []string{"opencode", "run", "--agent", "builder", "--title", "{{title}}", readPrompt}, model: []string{"--model", "{{model}}"}, at: 2},
		"opencode/inspector": {command: []string{"opencode", "run", "--agent", "inspector", "--title", "{{title}}", readPrompt}, model: []string{"--model", "{{model}}"}, at: 2},
		"claude/builder": {
			command: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Edit,Write,Read,Glob,Grep"},
			model:   []string{"--model", "{{model}}"}, at: 2,
		},
		"claude/inspector": {
			command: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Read,Glob,Grep,Bash(git diff:*),Bash(git log:*),Bash(git show:*)"},
			from:    Message, model: []string{"--model", "{{model}}"}, at: 2,
		},
		"codex/builder": {command: []string{"codex", "exec", "--sandbox", "workspace-write", "-o", "{{message_file}}", "-"}, model: []string{"--model", "{{model}}"}, at: 2},
		"codex/inspector": {
			command: []string{"codex", "exec", "--sandbox", "read-only", "--output-schema", "{{schema_file}}", "-o", "{{message_file}}", "-"},
			from:    Message, model: []string{"--model", "{{model}}"}, at: 2,
		},
		"aider/builder": {command: []string{"aider", "--yes-always", "--no-check-update", "--message-file", "{{prompt_file}}"}, model: []string{"--model", "{{model}}"}, at: 1},
	}[name+"/"+role]
	return p, ok
}

// presets returns the names of the presets for a role. Aider has no preset for an Inspector.
func presets(role string) []string {
	return slices.DeleteFunc([]string{"opencode", "claude", "codex", "aider"}, func(name string) bool {
		_, ok := preset(name, role)
		return !ok
	})
}
