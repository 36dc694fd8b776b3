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

// sections are the sections of one file as written. Nil sections are absent.
type sections struct {
	Version *yaml.Node      `yaml:"version"`
	Extends *extendsSection `yaml:"extends"`
	Disable []*yaml.Node    `yaml:"disable"`
	Mode    *string         `yaml:"mode"`
	Policy  *policy.Section `yaml:"policy"`
	Limits  map[string]int  `yaml:"limits"` // short for policy.limits, see [side.addPolicy]
	Labels  *policy.Labels  `yaml:"labels"` // short for policy.labels, see [side.addPolicy]
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
	Name      string        `yaml:"name"`
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
			f.Problemf(item, "include: %q is not a path or glob of files in this repository", glob)
			continue
		}
		i.globs = append(i.globs, glob)
	}
	i.node = n
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
	if words := []string{"fail", "skip"}; n.ShortTag() == "!!str" && !slices.Contains(words, n.Value) {
		f.Problemf(n, "agent.on_failure: want fail or skip, got %q%s", n.Value, yamlfile.DidYouMean(n.Value, words))
	}
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
