package app

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// needsOf lists what a workflow must grant for a configuration, as lines of its
// permissions block. With pulls it runs on pull requests whatever the rules listen to.
func needsOf(c *config.Config, pulls bool) []string {
	level := "write"
	if c.Mode == config.ModeShadow {
		level = "read"
	}
	needs := []string{"contents: read", "issues: " + level}
	if pulls || slices.ContainsFunc(rules.Infos(c.Rules), onPulls) {
		needs = append(needs, "pull-requests: "+level)
	}
	if recalls(c) && c.Memory.Store == "" || c.Memory.Store == "artifact" {
		needs = append(needs, "actions: read")
	}
	if c.Agent.Auth == "oidc" {
		needs = append(needs, "id-token: write")
	}
	return needs
}

func onPulls(i rules.Info) bool {
	return slices.ContainsFunc(i.On, func(on string) bool { return strings.HasPrefix(on, triage.EventPullRequest) })
}

// recalls reports whether anything that a configuration does takes what was done before.
func recalls(c *config.Config) bool {
	return c.Agent.URL != "" || c.AsksMemory || c.Mode == config.ModeShadow && c.Rules.Len() > 0 ||
		c.Rules.NeverAgain() || c.Rules.ClosesLater() || c.Rules.Undoes()
}
