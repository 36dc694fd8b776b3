package config

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// sources returns the rules of both sides: first the inherited rules that are not disabled, then
// the repository's own.
func (b sides) sources() []rulesource.Parts {
	off := b.disabled()
	list := slices.Clone(b.theirs.sources)
	for i, s := range list {
		if s.Rules == nil || s.Rules.Kind != yaml.SequenceNode {
			continue
		}
		kept := *s.Rules
		kept.Content = slices.DeleteFunc(slices.Clone(s.Rules.Content), func(n *yaml.Node) bool { return slices.Contains(off, ruleID(n)) })
		list[i].Rules = &kept
	}
	return append(list, b.mine.sources...)
}

// disabled returns the ids of the inherited rules that are disabled.
func (b sides) disabled() []string {
	at, ok := b.mine.at["disable"]
	if _, extends := b.mine.at["extends"]; ok && !extends {
		at.f.Problemf(at.n, "disable: this file extends no other file, so there is no inherited rule to switch off")
	}
	own, known := ruleIDs(b.mine.sources), ruleIDs(b.theirs.sources)
	var off []string
	for _, n := range b.mine.disable {
		var id string
		switch {
		case !at.f.DecodeKey("disable", n, &id):
		case slices.Contains(own, id):
			at.f.Problemf(n, "disable: %q is one of this repository's own rules; remove that rule instead, or rename it", text.Quote(id))
		case b.theirs.name == "":
			// No file is extended, or it could not be read. That is reported elsewhere.
		case !slices.Contains(known, id):
			at.f.Problemf(n, "disable: %s has no rule %q%s", b.theirs.name, text.Quote(id), yamlfile.DidYouMean(id, known))
		default:
			off = append(off, id)
		}
	}
	return off
}

func ruleID(n *yaml.Node) string {
	if id := yamlfile.Child(n, "id"); id != nil {
		return id.Value
	}
	return ""
}

func ruleIDs(sources []rulesource.Parts) []string {
	var ids []string
	for _, s := range sources {
		if s.Rules == nil {
			continue
		}
		for _, n := range s.Rules.Content {
			ids = append(ids, ruleID(n))
		}
	}
	return ids
}
