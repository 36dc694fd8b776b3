package config

import (
	"path"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// policySection is what a file says; what is nil or empty it does not say.
type policySection struct {
	AllowClose    *bool          `yaml:"allow_close"`
	Actions       []string       `yaml:"actions"`
	Limits        map[string]int `yaml:"limits"`
	Labels        *labelSection  `yaml:"labels"`
	CreateLabels  *bool          `yaml:"create_labels"`
	UnknownAction string         `yaml:"unknown_action"`
	CommentLength *int           `yaml:"comment_length"`
	Mentions      []string       `yaml:"mentions"`
	Links         []string       `yaml:"links"`

	CommentInterval *time.Duration `yaml:"comment_interval"`
	MaxComments     *int           `yaml:"max_comments_per_issue"`
	MaxWrites       *int           `yaml:"max_writes_per_hour"`
	ShadowPeriod    time.Duration  `yaml:"shadow_period"`
	MaxScanned      *int           `yaml:"max_scanned_issues"`
}

type labelSection struct {
	Allow []string `yaml:"allow"`
	Deny  []string `yaml:"deny"`
}

// DecodeYAML fills the section and checks its values.
func (p *policySection) DecodeYAML(f *strictyaml.File, n *yaml.Node) {
	type plain policySection
	f.Decode(n, (*plain)(p))
	checkActions(f, strictyaml.Child(n, "actions"), "policy.actions")
	checkLimits(f, strictyaml.Child(n, "limits"), "policy.limits", p.Limits)
	oneOf(f, strictyaml.Child(n, "unknown_action"), "policy.unknown_action", "stop", "reject")
	if c := p.CommentLength; c != nil && (*c < 1 || *c > policy.MaxCommentLength) {
		f.Problemf(strictyaml.Child(n, "comment_length"), "policy.comment_length: want 1 to %d, got %d", policy.MaxCommentLength, *c)
	}
	at := strictyaml.Child(n, "max_scanned_issues")
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
			f.Problemf(strictyaml.Child(n, limit.name), "policy.%s: want more than 0, or 0 for no limit", limit.name)
		}
	}
	positive(f, strictyaml.Child(n, "shadow_period"), "policy.shadow_period")
	p.Labels.check(f, strictyaml.Child(n, "labels"), "policy.labels")
	checkGlobs(f, strictyaml.Child(n, "mentions"), "policy.mentions", p.Mentions)
	checkGlobs(f, strictyaml.Child(n, "links"), "policy.links", p.Links)
}

// knownActions lists the types of actions that a plan may hold.
func knownActions() []string {
	specs := protocol.ActionSpecs()
	known := make([]string, 0, len(specs))
	for _, s := range specs {
		known = append(known, s.Name)
	}
	return known
}

// checkActions reports the names in a list that are no action's.
func checkActions(f *strictyaml.File, list *yaml.Node, name string) {
	if list == nil {
		return
	}
	known := knownActions()
	for _, item := range list.Content {
		if item.ShortTag() == "!!str" && !slices.Contains(known, item.Value) {
			f.Problemf(item, "%s: unknown action %q%s", name, item.Value, strictyaml.DidYouMean(item.Value, known))
		}
	}
}

// checkLimits reports what is wrong with the mapping at n.
func checkLimits(f *strictyaml.File, n *yaml.Node, prefix string, limits map[string]int) {
	known := knownActions()
	for _, name := range sortedKeys(limits) {
		at := strictyaml.Child(n, name)
		if !slices.Contains(known, name) {
			f.Problemf(at, "%s: unknown action %q%s", prefix, name, strictyaml.DidYouMean(name, known))
		}
		if name == protocol.ActionAddLabels {
			f.Problemf(at, "%s.add_labels: labels are counted one by one, under add_label", prefix)
		}
		if limits[name] < 0 {
			f.Problemf(at, "%s.%s: want 0 or more, got %d", prefix, name, limits[name])
		}
	}
}

func (l *labelSection) check(f *strictyaml.File, n *yaml.Node, prefix string) {
	if l == nil {
		return
	}
	checkGlobs(f, strictyaml.Child(n, "allow"), prefix+".allow", l.Allow)
	checkGlobs(f, strictyaml.Child(n, "deny"), prefix+".deny", l.Deny)
}

func checkGlobs(f *strictyaml.File, at *yaml.Node, name string, globs []string) {
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil || g == "" {
			f.Problemf(at, "%s: %q is no glob", name, g)
		}
	}
}

// asLimit turns what a file says, where 0 is no limit, into a field of a Policy, where
// 0 is the default.
func asLimit[N int | time.Duration](n *N) N {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

func (p *policySection) policy() policy.Policy {
	is := func(b *bool) bool { return b != nil && *b }
	out := policy.Policy{
		AllowClose: is(p.AllowClose), Actions: p.Actions, Limits: p.Limits,
		CreateLabels: is(p.CreateLabels), RejectUnknown: p.UnknownAction == "reject",
		Mentions: p.Mentions, Links: p.Links,
		CommentInterval: asLimit(p.CommentInterval), MaxComments: asLimit(p.MaxComments), MaxWrites: asLimit(p.MaxWrites),
		ShadowPeriod: p.ShadowPeriod, MaxScanned: asLimit(p.MaxScanned),
	}
	if p.Labels != nil {
		out.Labels = policy.Labels{Allow: p.Labels.Allow, Deny: p.Labels.Deny}
	}
	if p.CommentLength != nil {
		out.CommentLength = *p.CommentLength
	}
	return out
}
