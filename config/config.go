package config

import (
	"cmp"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// A Mode decides whether decisions are carried out.
type Mode string

// The modes.
const (
	ModeApply  Mode = "apply"  // the default
	ModeShadow Mode = "shadow" // decide and report, but write nothing
)

// A Config contains the settings of the configuration file and the rule files. The zero value has
// no rules, no agent and the safe default policy.
type Config struct {
	Mode   Mode // empty: ModeApply
	Policy policy.Policy
	LLM    protocol.LLMBackendRef // empty fields: not configured
	Model  Model                  // further settings of LLM for Foreman's own requests
	Memory Memory
	Agent  Agent
	Rules  *rules.Set // nil: no rules
	// Tests are the tests in the rule files; nil unless [Spec.Tests] is set.
	Tests []ruletest.Test
	// NeverClose is true if the extended file forbids closing issues. Then no further setting, such
	// as an input of the action, may allow it.
	NeverClose bool
	// Files names the files that were read, in order.
	Files []string
	// Globs are the patterns of the searches for files. A matching file that is added later belongs
	// to the configuration, too.
	Globs []string
	// Patterns are the entries of policy.labels in all files.
	Patterns []Pattern
	// Warnings are problems that do not make the configuration unusable.
	Warnings rules.Problems
}

// Proposes reports whether a run may propose actions to people. A policy or a rule can demand it, and
// an agent may ask for it with any action.
func (c *Config) Proposes() bool {
	if c.Policy.Suggestions == policy.SuggestionsOff {
		return false
	}
	return c.Policy.Levelled() || c.Agent.URL != "" || slices.ContainsFunc((*ruleset.Set)(c.Rules).Rules().Intents(), func(i ruleset.ActionIntent) bool {
		return c.Policy.Proposes(i.Action, cmp.Or(i.Confidence, protocol.ConfidenceHigh), i.Suggest)
	})
}

// JudgeTime returns how long after an action its outcome is judged: [policy.Policy.JudgeTime], or in shadow mode
// [policy.Policy.ShadowTime].
func (c *Config) JudgeTime() time.Duration {
	if c.Mode == ModeShadow {
		return c.Policy.ShadowTime()
	}
	return c.Policy.JudgeTime()
}

// A Pattern is an entry of policy.labels, of the repository's own files or of the extended file.
type Pattern struct {
	List  string // "allow" or "deny"
	Text  string
	Place rules.Problem // without a message
}

// A Memory describes where records of earlier tasks are stored.
type Memory struct {
	Store string // "off", "artifact", "cache" or "file"; empty: not configured
	Path  string // folder of the file store; empty: not configured
	// Summary is what writes the summary for the agent: "facts" or "model"; empty: not configured.
	Summary string
}

// A Model configures the model that writes the summary. Zero fields are not configured.
type Model struct {
	BaseURL   string        // base URL of a service other than the provider's own
	Timeout   time.Duration // limit for one answer
	MaxTokens int           // limit for one answer
}

// An Agent configures an agent over HTTP, and when it decides.
type Agent struct {
	URL       string           // base address; empty: none is configured
	Name      string           // in track records; empty: the host of the address
	Inherited bool             // only the extended file sets URL: no credentials
	Auth      string           // "none", "token" or "oidc"; empty: not configured
	Timeout   time.Duration    // from connecting to the last byte; 0: not configured
	When      *rules.Condition // the agent decides only if true; nil: when no rule fired
	OnFailure OnFailure
}

// OnFailure is the fallback when the agent returns no usable decision. The zero value makes the run
// fail.
type OnFailure struct {
	Set   bool   // the configuration contains it
	Skip  bool   // the fallback is the decision skip
	Label string // the fallback is to add this label
}

// OnFailureRule replaces the id of a rule as the source of an action that OnFailure adds.
const OnFailureRule = "agent.on_failure"
