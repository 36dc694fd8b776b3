package config

import (
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
)

// sections are the sections of one file as they are written; nil ones are absent.
type sections struct {
	Version *yaml.Node      `yaml:"version"`
	Extends *extendsSection `yaml:"extends"`
	Disable []*yaml.Node    `yaml:"disable"`
	Mode    *string         `yaml:"mode"`
	Policy  *policySection  `yaml:"policy"`
	Limits  map[string]int  `yaml:"limits"` // short for policy.limits
	Labels  *policy.Labels  `yaml:"labels"` // short for policy.labels
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
	globs []string
	node  *yaml.Node
}

// DecodeYAML reads a glob or a list of globs.
func (i *includeSection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
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
		i.globs = append(i.globs, glob)
	}
	i.node = n
}

// DecodeYAML fills the section and checks its values.
func (m *memorySection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	type plain memorySection
	f.Decode(n, (*plain)(m))
	oneOf(f, yamlfile.Child(n, "store"), "memory.store", "off", "artifact", "cache", "file")
	oneOf(f, yamlfile.Child(n, "summary"), "memory.summary", "facts", "model")
}

// DecodeYAML fills the section and checks its values.
func (l *llmSection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	type plain llmSection
	f.Decode(n, (*plain)(l))
	positive(f, yamlfile.Child(n, "timeout"), "llm.timeout")
	if at := yamlfile.Child(n, "max_tokens"); at != nil && at.Tag == "!!int" && l.MaxTokens < 1 {
		f.Problemf(at, "llm.max_tokens: want more than 0")
	}
}

// DecodeYAML fills the section and checks its values.
func (a *agentSection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	type plain agentSection
	f.Decode(n, (*plain)(a))
	oneOf(f, yamlfile.Child(n, "auth"), "agent.auth", "none", "token", "oidc")
	positive(f, yamlfile.Child(n, "timeout"), "agent.timeout")
	checkActions(f, yamlfile.Child(n, "may"), "agent.may")
}

// policySection is the section policy, without what other sections add to it.
type policySection policy.Section

// DecodeYAML fills the section and checks its values.
func (p *policySection) DecodeYAML(f *yamlfile.File, n *yaml.Node) {
	f.Decode(n, (*policy.Section)(p))
	checkActions(f, yamlfile.Child(n, "actions"), "policy.actions")
	checkLimits(f, yamlfile.Child(n, "limits"), "policy.limits", p.Limits)
	oneOf(f, yamlfile.Child(n, "unknown_action"), "policy.unknown_action", policy.UnknownStop, policy.UnknownReject)
	if c := p.CommentLength; c != nil && (*c < 1 || *c > policy.MaxCommentLength) {
		f.Problemf(yamlfile.Child(n, "comment_length"), "policy.comment_length: want 1 to %d, got %d", policy.MaxCommentLength, *c)
	}
	at := yamlfile.Child(n, "max_scanned_issues")
	if c := p.MaxScanned; c != nil && at.ShortTag() == "!!int" && (*c < 1 || *c > policy.MaxScannable) {
		f.Problemf(at, "policy.max_scanned_issues: want 1 to %d, got %d", policy.MaxScannable, *c)
	}
	for _, limit := range []struct {
		name string
		less bool
	}{
		{"comment_interval", p.CommentInterval != nil && *p.CommentInterval < 0},
		{"max_comments_per_issue", p.MaxComments != nil && *p.MaxComments < 0},
		{"max_writes_per_hour", p.MaxWrites != nil && *p.MaxWrites < 0},
	} {
		if limit.less {
			f.Problemf(yamlfile.Child(n, limit.name), "policy.%s: want more than 0, or 0 for no limit", limit.name)
		}
	}
	positive(f, yamlfile.Child(n, "shadow_period"), "policy.shadow_period")
	checkLabels(f, yamlfile.Child(n, "labels"), "policy.labels", p.Labels)
	checkGlobs(f, yamlfile.Child(n, "mentions"), "policy.mentions", p.Mentions)
	checkGlobs(f, yamlfile.Child(n, "links"), "policy.links", p.Links)
}

// decodeOnFailure reads "fail", "skip" or {add_label: name}.
func decodeOnFailure(f *yamlfile.File, n *yaml.Node) OnFailure {
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

// checkVersion reports a version that is absent or unknown.
func checkVersion(f *yamlfile.File, n *yaml.Node) {
	switch {
	case n == nil:
		f.Problemf(nil, "version is missing: begin the file with version: 1")
	case n.Kind != yaml.ScalarNode || n.Value != "1":
		f.Problemf(n, "version: want 1, got %s", yamlfile.Kind(n))
	}
}
