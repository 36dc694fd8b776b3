package config

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
)

var (
	// quoted finds the texts of an expression.
	quoted = regexp.MustCompile("(?s)\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	// recall finds the name memory.
	recall = regexp.MustCompile(`(^|[^\w.$])memory\b`)
	// inserted finds the expressions of a template.
	inserted = regexp.MustCompile(`(?s)\{\{(.*?)\}\}`)
)

// asksMemory reports whether a rule reads the memory of the issue: its condition or a template
// names memory, or a comment is made once.
func asksMemory(sources []rules.Source) bool {
	for _, s := range sources {
		if s.Node == nil {
			continue
		}
		for _, rule := range s.Node.Content {
			if when := yamlfile.Child(rule, "when"); when != nil && recalls(when.Value) || recallsBelow(yamlfile.Child(rule, "then")) {
				return true
			}
		}
	}
	return false
}

// recallsBelow looks through the actions of a rule.
func recallsBelow(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	if yamlfile.Child(n, "once") != nil {
		return true
	}
	for _, m := range inserted.FindAllStringSubmatch(n.Value, -1) {
		if recalls(m[1]) {
			return true
		}
	}
	return slices.ContainsFunc(n.Content, recallsBelow)
}

// recalls reports whether an expression names memory outside of its texts.
func recalls(src string) bool {
	return strings.Contains(src, "memory") && recall.MatchString(quoted.ReplaceAllString(src, `""`))
}
