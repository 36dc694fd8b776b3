package config

import (
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// A Mode says whether decisions are carried out.
type Mode string

// The modes.
const (
	ModeApply  Mode = "apply"  // the default
	ModeShadow Mode = "shadow" // decide and report, write nothing
)

// A Config is what the configuration file and the rule files say. The zero value
// has no rules, no agent and the safe policy.
type Config struct {
	Mode   Mode // empty: ModeApply
	Policy policy.Policy
	LLM    protocol.LLMBackendRef // empty fields: not configured
	Model  Model                  // more about LLM, where we ask it ourselves
	Memory Memory
	Agent  Agent
	Rules  *rules.Set // nil: no rules
	// AsksMemory says that a rule asks what was done before: "memory" in a condition or a
	// text, or a comment that is made once.
	AsksMemory bool
	// Tests are what the files say that the rules do; nil unless [Spec.Tests] asks.
	Tests []ruletest.Test
	// NeverClose says that the file which is extended forbids to close issues, so that
	// no setting on top of the configuration may permit it.
	NeverClose bool
	// Files names the files that were read, in order.
	Files []string
	// Warnings are problems that leave the configuration usable.
	Warnings strictyaml.Problems
}

// A Memory says where is kept what was done.
type Memory struct {
	Store string // "off", "artifact", "cache" or "file"; empty: not configured
	Path  string // folder of the file store; empty: not configured
	// Summary says who words what the agent is told of it: "facts" or "model"; empty:
	// not configured.
	Summary string
}

// A Model says which model is asked to word the summary. What is zero is not
// configured.
type Model struct {
	BaseURL   string        // of a service other than the provider's own
	Timeout   time.Duration // for one answer
	MaxTokens int           // that one answer may cost
}

// An Agent says how an HTTP agent is asked.
type Agent struct {
	URL       string           // base address; empty: none is configured
	Auth      string           // "none", "token" or "oidc"; empty: not configured
	Timeout   time.Duration    // connect to last byte; 0: not configured
	When      *rules.Condition // asked only when it holds; nil: when no rule fired
	OnFailure OnFailure
}

// OnFailure says what happens when the agent gives no usable decision. The zero
// value fails the run.
type OnFailure struct {
	Set   bool   // the configuration says something
	Skip  bool   // the decision is skip
	Label string // the decision is to add this label
}

// OnFailureRule stands for the id of a rule in the source of an action that OnFailure adds.
const OnFailureRule = "agent.on_failure"

// sections is one file as it is written.
type sections struct {
	Version *yaml.Node      `yaml:"version"`
	Extends *extendsSection `yaml:"extends"`
	Disable []*yaml.Node    `yaml:"disable"`
	Mode    *string         `yaml:"mode"`
	Policy  *policySection  `yaml:"policy"`
	Limits  map[string]int  `yaml:"limits"` // short for that of policy
	Labels  *labelSection   `yaml:"labels"` // short for that of policy
	LLM     *llmSection     `yaml:"llm"`
	Memory  *memorySection  `yaml:"memory"`
	Agent   *agentSection   `yaml:"agent"`
	Forms   *yaml.Node      `yaml:"forms"`
	Tables  *yaml.Node      `yaml:"tables"`
	Rules   *yaml.Node      `yaml:"rules"`
	Tests   *yaml.Node      `yaml:"tests"`
	Include *includeSection `yaml:"include"`
}

type llmSection struct {
	Provider  string        `yaml:"provider"`
	Model     string        `yaml:"model"`
	BaseURL   string        `yaml:"base_url"`
	Timeout   time.Duration `yaml:"timeout"`
	MaxTokens int           `yaml:"max_tokens"`
}

type memorySection struct {
	Store   string `yaml:"store"`
	Path    string `yaml:"path"`
	Summary string `yaml:"summary"`
}

type agentSection struct {
	URL       string        `yaml:"url"`
	Auth      string        `yaml:"auth"`
	Timeout   time.Duration `yaml:"timeout"`
	When      *yaml.Node    `yaml:"when"`
	May       []string      `yaml:"may"`
	OnFailure *yaml.Node    `yaml:"on_failure"`
}

type includeSection struct {
	Globs []string
	node  *yaml.Node
}

// DecodeYAML takes a list of globs, or one.
func (i *includeSection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		var glob string
		if !f.Decode(item, &glob) {
			continue
		}
		if _, err := path.Match(glob, ""); err != nil || path.IsAbs(glob) || slices.Contains(strings.Split(glob, "/"), "..") {
			f.Problemf(item, "include: %q is no path or glob of files in this repository", glob)
			continue
		}
		i.Globs = append(i.Globs, glob)
	}
	i.node = n
}

// DecodeYAML fills the section and checks its values.
func (m *memorySection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
	type plain memorySection
	f.Decode(n, (*plain)(m))
	oneOf(f, strictyaml.Child(n, "store"), "memory.store", "off", "artifact", "cache", "file")
	oneOf(f, strictyaml.Child(n, "summary"), "memory.summary", "facts", "model")
}

// DecodeYAML fills the section and checks its values.
func (l *llmSection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
	type plain llmSection
	f.Decode(n, (*plain)(l))
	positive(f, strictyaml.Child(n, "timeout"), "llm.timeout")
	if at := strictyaml.Child(n, "max_tokens"); at != nil && at.Tag == "!!int" && l.MaxTokens < 1 {
		f.Problemf(at, "llm.max_tokens: want more than 0")
	}
}

// positive reports a duration that is none, or not more than 0.
func positive(f *strictyaml.File, at *yaml.Node, name string) {
	if at == nil {
		return
	}
	if d, err := protocol.ParseDuration(at.Value); err == nil && d <= 0 {
		f.Problemf(at, "%s: want more than 0", name)
	}
}

// DecodeYAML fills the section and checks its values.
func (a *agentSection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
	type plain agentSection
	f.Decode(n, (*plain)(a))
	oneOf(f, strictyaml.Child(n, "auth"), "agent.auth", "none", "token", "oidc")
	positive(f, strictyaml.Child(n, "timeout"), "agent.timeout")
	checkActions(f, strictyaml.Child(n, "may"), "agent.may")
}

// onFailure reads "fail", "skip" or {add_label: name}.
func onFailure(f *strictyaml.File, n *yaml.Node) OnFailure {
	if n.Kind == yaml.MappingNode {
		var o struct {
			Label string `yaml:"add_label,required"`
		}
		f.Decode(n, &o)
		return OnFailure{Set: true, Label: o.Label}
	}
	oneOf(f, n, "agent.on_failure", "fail", "skip")
	return OnFailure{Set: true, Skip: n.Value == "skip"}
}

// oneOf reports a text that is none of the wanted ones.
func oneOf(f *strictyaml.File, n *yaml.Node, name string, want ...string) {
	if n == nil || n.Tag != "!!str" || slices.Contains(want, n.Value) {
		return // absent, of the wrong type, which was reported, or right
	}
	f.Problemf(n, "%s: want %s, got %q%s", name, strings.Join(want, " or "), n.Value, strictyaml.DidYouMean(n.Value, want))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
