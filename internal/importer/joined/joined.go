// Package joined converts the configurations of several tools to rules for one file.
package joined

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Result is the content of several imported files as the parts of one configuration file.
type Result struct {
	Policy string // the policy section including its key; empty: the rules need none
	Rules  string // the items of the list of rules; a comment precedes those of each source
	Count  int    // number of rules
	// Sources are the files that the rules come from, in order, without files that have no rules.
	Sources []Origin
	// Unmapped lists the parts without a counterpart, source by source.
	Unmapped yamlfile.Problems
}

// An Origin is a file that was imported.
type Origin struct {
	File, Action string // the file's name, and the action whose configuration it is
	Rules        int
}

// Import converts several files to rules. Each rule gets a unique id that is not reserved. The
// error is a [yamlfile.Problems] with the mistakes of all files.
func Import(list []importer.Request, reserved []string) (Result, error) {
	var out Result
	var parts []part
	reserved = slices.Clone(reserved)
	var mistakes yamlfile.Problems
	for _, r := range list {
		r.Reserved = reserved
		res, err := importer.Import(r)
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
			mistakes = append(mistakes, ps...)
			continue
		} else if err != nil {
			return Result{}, err
		}
		out.Unmapped = append(out.Unmapped, res.Unmapped...)
		if res.Rules == 0 {
			continue
		}
		p, err := split(r.File.Name, string(res.Config))
		if err != nil {
			return Result{}, err
		}
		for _, rule := range p.config.Rules {
			reserved = append(reserved, rule.ID)
		}
		parts = append(parts, p)
		out.Count += res.Rules
		out.Rules += p.comment + p.rules
		out.Sources = append(out.Sources, Origin{r.File.Name, p.action, res.Rules})
	}
	if len(mistakes) > 0 {
		return Result{}, mistakes
	}
	out.Policy = policyOf(parts)
	return out, nil
}

// A part is the text of an imported file in pieces.
type part struct {
	action  string // the action whose configuration the source is
	comment string // lines above its rules
	rules   string // its rules, as items of a list
	config  config
}

// A config is the part of an imported file that Import reads to join it with others.
type config struct {
	Mode   string
	Policy struct {
		AllowClose   bool           `yaml:"allow_close"`
		CreateLabels bool           `yaml:"create_labels"`
		Limits       map[string]int `yaml:"limits"`
		Writes       *int           `yaml:"max_writes_per_hour"`
		Interval     *string        `yaml:"comment_interval"`
		Comments     *int           `yaml:"max_comments_per_issue"`
	}
	Rules []struct {
		ID   string
		Then []yaml.Node
	}
}

// origin finds the source and the action in the comment at the start of an imported file.
var origin = regexp.MustCompile(`^.* import from (.+, a configuration of (.+)\.)$`)

// split splits the text of an imported file into pieces.
func split(name, text string) (part, error) {
	var p part
	if err := yaml.Unmarshal([]byte(text), &p.config); err != nil {
		return part{}, fmt.Errorf("read the rules imported from %s: %w", name, err)
	}
	head, rest, _ := strings.Cut(text, "\nversion: 1\n")
	_, rules, ok := strings.Cut("\n"+rest, "\nrules:\n")
	first, more, _ := strings.Cut(head, "\n")
	for strings.HasPrefix(more, "#   ") { // an indented line continues the first one
		var line string
		line, more, _ = strings.Cut(more, "\n")
		first += " " + strings.TrimPrefix(line, "#   ")
	}
	m := origin.FindStringSubmatch(first)
	if !ok || m == nil {
		return part{}, fmt.Errorf("read the rules imported from %s: unexpected form", name)
	}
	p.action, p.rules = m[2], rules
	p.comment = "  # From " + m[1] + "\n"
	if p.config.Mode != "" {
		p.comment += "  # " + p.action + " has debug-only and writes nothing; with mode: apply these rules write.\n"
	}
	if more != "" {
		p.comment += "  " + strings.ReplaceAll(more, "\n", "\n  ") + "\n"
	}
	return p, nil
}

// does reports whether a rule has an action, or its plural such as add_labels.
func (p part) does(action string) bool {
	for _, r := range p.config.Rules {
		for _, a := range r.Then {
			name := a.Value
			if len(a.Content) > 0 {
				name = a.Content[0].Value
			}
			if name == action || name == action+"s" {
				return true
			}
		}
	}
	return false
}

// policyOf returns the policy section for the rules of all parts.
func policyOf(parts []part) string {
	var lines []string
	add := func(line, reason string, wants func(p part) bool) {
		var actions []string
		for _, p := range parts {
			if wants(p) && !slices.Contains(actions, p.action) {
				actions = append(actions, p.action)
			}
		}
		switch {
		case len(actions) == 0:
			return
		case reason != "":
			line += " # " + fmt.Sprintf(reason, strings.Join(actions, ", "))
		}
		lines = append(lines, "  "+line)
	}
	add("allow_close: true", "", func(p part) bool { return p.config.Policy.AllowClose })
	add("create_labels: true", "as in %s", func(p part) bool { return p.config.Policy.CreateLabels })
	if limits := limitsOf(parts); len(limits) > 0 {
		lines = append(lines, "  limits:")
		for _, action := range slices.Sorted(maps.Keys(limits)) {
			lines = append(lines, fmt.Sprintf("    %s: %d", action, limits[action]))
		}
	}
	add("max_writes_per_hour: 0", "no such limit in %s", func(p part) bool { return p.config.Policy.Writes != nil })
	add("comment_interval: 0s", "no such limit in %s", func(p part) bool { return p.config.Policy.Interval != nil })
	add("max_comments_per_issue: 0", "no such limit in %s", func(p part) bool { return p.config.Policy.Comments != nil })
	if len(lines) == 0 {
		return ""
	}
	return "policy:\n" + strings.Join(lines, "\n") + "\n"
}

// limitsOf returns the limits of actions. A limit is the sum of the parts' limits, because rules of
// all parts may fire for one event.
func limitsOf(parts []part) map[string]int {
	limits := map[string]int{}
	for _, p := range parts {
		for action := range p.config.Policy.Limits {
			sum := 0
			for _, other := range parts {
				switch n, listed := other.config.Policy.Limits[action]; {
				case listed:
					sum += n
				case other.does(action) && strings.HasSuffix(action, "_label"):
					sum += 5 // the default limit for labels
				case other.does(action):
					sum++
				}
			}
			limits[action] = sum
		}
	}
	return limits
}
