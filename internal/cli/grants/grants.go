// Package grants lists the permissions that a workflow must grant, and renders them as its
// permissions block.
package grants

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
)

// Needs lists the permissions that a workflow must grant for a configuration, as lines of its
// permissions block. With pulls it also runs on pull requests.
func Needs(c *config.Config, pulls bool) []string {
	level := "write"
	if c.Mode == config.ModeShadow {
		level = "read"
	}
	needs := []string{"contents: read", "issues: " + level}
	switch {
	case pulls || slices.ContainsFunc(rules.Infos(c.Rules), func(i rules.Info) bool { return i.Pulls }):
		needs = append(needs, "pull-requests: "+level)
	default:
		for _, l := range c.Rules.Lookups() {
			if l.Needs != "" && !slices.Contains(needs, l.Needs) {
				needs = append(needs, l.Needs)
			}
		}
	}
	if recalls(c) && c.Memory.Store == "" || c.Memory.Store == "artifact" {
		needs = append(needs, "actions: read")
	}
	if c.Agent.Auth == "oidc" {
		needs = append(needs, "id-token: write")
	}
	return needs
}

// Writes lists the permissions with the level "write" that a workflow must grant for a
// configuration with mode: apply.
func Writes(c *config.Config) []string {
	apply := *c
	apply.Mode = config.ModeApply
	return slices.DeleteFunc(Needs(&apply, false), func(need string) bool { return !strings.HasSuffix(need, ": write") })
}

// recalls reports whether a configuration needs the record of earlier actions.
func recalls(c *config.Config) bool {
	return c.Agent.URL != "" || c.Proposes() || (*ruleset.Set)(c.Rules).Rules().UsesMemory() || c.Mode == config.ModeShadow && c.Rules.Len() > 0 ||
		(*ruleset.Set)(c.Rules).Rules().NeverAgain() || (*ruleset.Set)(c.Rules).Rules().ClosesLater() || (*ruleset.Set)(c.Rules).Rules().UndoesByMemory()
}

// Lack introduces a block after a call that was denied.
const Lack = "The token lacks a permission. Give the job this block:"

// Help returns Lack and the permissions block.
func Help(needs, missing []string) string {
	block := strings.TrimSuffix(Block(needs, missing), "\n")
	return Lack + "\n\n    " + strings.ReplaceAll(block, "\n", "\n    ")
}

// Block is the exact block: the token gets no other permission.
func Block(needs, missing []string) string {
	var b strings.Builder
	b.WriteString("permissions:\n")
	levels := map[string]string{}
	for _, need := range slices.Concat(needs, missing) {
		name, level, _ := strings.Cut(need, ": ")
		if levels[name] != "write" {
			levels[name] = level
		}
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, levels[name])
	}
	return b.String()
}
