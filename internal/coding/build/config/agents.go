package config

import (
	"regexp"
	"slices"
	"strings"
)

const (
	builder   = "builder"
	inspector = "inspector"
)

// Placeholders returns the names that {{ }} replaces in the arguments of an agent's
// command:
//
//	prompt        the prompt itself; a long one does not fit into an argument
//	prompt_file   the path of a file with the prompt
//	title         a title for the agent's session
//	role          builder or inspector
//	model         the model from the file
//	result        the path of the file that the result is expected in
//	message_file  the path of a file for the final message
//	schema_file   the path of the JSON Schema of the result
//
// An agent whose command names neither prompt nor prompt_file gets the prompt on its
// standard input.
func Placeholders() []string {
	return []string{"prompt", "prompt_file", "title", "role", "model", "result", "message_file", "schema_file"}
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

func unknownPlaceholders(command []string) []string {
	var unknown []string
	for _, argument := range command {
		for _, match := range placeholder.FindAllStringSubmatch(argument, -1) {
			if name := strings.TrimSpace(match[1]); !slices.Contains(Placeholders(), name) {
				unknown = append(unknown, name)
			}
		}
	}
	return unknown
}

// Uses reports whether the agent's command contains a placeholder.
func (a Agent) Uses(name string) bool {
	return slices.ContainsFunc(a.Command, func(argument string) bool {
		return slices.ContainsFunc(placeholder.FindAllStringSubmatch(argument, -1), func(match []string) bool {
			return strings.TrimSpace(match[1]) == name
		})
	})
}

// Expand returns the agent's command with its placeholders replaced. It does not expand
// placeholders in values. A placeholder without a value becomes empty.
func (a Agent) Expand(values map[string]string) []string {
	expanded := make([]string, len(a.Command))
	for i, argument := range a.Command {
		expanded[i] = placeholder.ReplaceAllStringFunc(argument, func(match string) string {
			return values[strings.TrimSpace(match[2:len(match)-2])]
		})
	}
	return expanded
}

// complete sets the fields that the preset defines, and the default result file of the role.
func (a Agent) complete(role string) Agent {
	if p, ok := preset(a.Preset, role); ok {
		a.Command = p.command
		if p.model != nil && a.Model != "" {
			a.Command = slices.Concat(a.Command[:p.at], p.model, a.Command[p.at:])
		}
		if a.From == File && p.from != "" {
			a.From = p.from
		}
	}
	if a.Result == "" {
		a.Result = role + "_result.json"
	}
	return a
}
