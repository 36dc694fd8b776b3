package config

import (
	"time"

	"github.com/org/foreman-action/internal/yamlfile"
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
	ModeShadow Mode = "shadow" // decide and report, write nothing
)

// A Config is the contents of the configuration file and the rule files. The zero value has
// no rules, no agent and the safe policy.
type Config struct {
	Mode   Mode // empty: ModeApply
	Policy policy.Policy
	LLM    protocol.LLMBackendRef // empty fields: not configured
	Model  Model                  // more settings of LLM, for our own requests to it
	Memory Memory
	Agent  Agent
	Rules  *rules.Set // nil: no rules
	// Tests are the tests beside the rules; nil unless [Spec.Tests] asks for them.
	Tests []ruletest.Test
	// NeverClose is true if the file that is extended forbids to close issues, so that no
	// setting on top of the configuration may permit it.
	NeverClose bool
	// Files names the files that were read, in order.
	Files []string
	// Globs are the patterns with which more files were searched: a matching file that is added
	// later counts too.
	Globs []string
	// Warnings are problems that leave the configuration usable.
	Warnings yamlfile.Problems
}

// A Memory names the store of the records of earlier tasks.
type Memory struct {
	Store string // "off", "artifact", "cache" or "file"; empty: not configured
	Path  string // folder of the file store; empty: not configured
	// Summary is the writer of the summary for the agent: "facts" or "model"; empty: not
	// configured.
	Summary string
}

// A Model is the model that writes the summary. Zero fields are not configured.
type Model struct {
	BaseURL   string        // of a service other than the provider's own
	Timeout   time.Duration // for one answer
	MaxTokens int           // of one answer
}

// An Agent is an agent over HTTP and when it is asked.
type Agent struct {
	URL       string           // base address; empty: none is configured
	Inherited bool             // only the file that is extended names URL: it gets no credentials
	Auth      string           // "none", "token" or "oidc"; empty: not configured
	Timeout   time.Duration    // connect to last byte; 0: not configured
	When      *rules.Condition // asked only when it holds; nil: when no rule fired
	OnFailure OnFailure
}

// OnFailure is the fallback when the agent gives no usable decision. The zero value fails the
// run.
type OnFailure struct {
	Set   bool   // the configuration contains it
	Skip  bool   // the decision is skip
	Label string // the decision is to add this label
}

// OnFailureRule is in place of the id of a rule in the source of an action that OnFailure adds.
const OnFailureRule = "agent.on_failure"
