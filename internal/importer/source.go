package importer

import (
	"iter"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/yamlfile"
)

const maxLabel = 50 // characters that GitHub takes

// A pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// labels returns the entries of a file's top mapping, which a tool has its labels in.
func labels(root *yaml.Node, action string) ([]pair, findings) {
	if root.Kind != yaml.MappingNode {
		return nil, findings{wrong(root, "this is no configuration of %s: want a mapping of labels, got %s", action, yamlfile.Kind(root))}
	}
	return pairsOf(root), nil
}

func pairsOf(n *yaml.Node) []pair {
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, pair{n.Content[i], n.Content[i+1]})
	}
	return out
}

// items returns the items of a list, or a single value as one.
func items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// isNull reports whether a value was left out.
func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// scalar reads a scalar that must be a text; anything else is a mistake.
func scalar(n *yaml.Node, want string) (string, findings) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", findings{wrong(n, "want %s, got %s", want, yamlfile.Kind(n))}
	}
	return n.Value, nil
}

// labelName reads the name of a label, which stands at n. There is a finding when no
// label can have it.
func labelName(n *yaml.Node, name string) (string, findings) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 4*maxLabel || utf8.RuneCountInString(name) > maxLabel {
		return "", findings{lost(n, "%s is no name of a label: it has 1 to %d characters", quoted(name), maxLabel)}
	}
	return name, nil
}

// parseTime reads a time as people write it in JavaScript's company.
func parseTime(text string) (string, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01", time.RFC1123Z, time.RFC1123, "2 Jan 2006", "Jan 2, 2006"} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 && t.Year() < 10000 {
			return t.UTC().Format(time.RFC3339), true
		}
	}
	return "", false
}

// patterns keeps translated regular expressions, because aliases may repeat them.
type patterns map[string]pattern

// A pattern is the condition for a regular expression of JavaScript, or the parts of the
// expression that have no counterpart.
type pattern struct {
	when     term
	problems []jsregexp.Problem
	spaces   bool // it has a set of white space
}

// matching returns the condition that a value matches a JavaScript regular expression,
// which stands in the scalar n. ok is false when it has no counterpart.
func (ps patterns) matching(n *yaml.Node, value, src, flags string) (t term, ok bool, found findings) {
	key := value + "/" + src + "/" + flags
	p, known := ps[key]
	if !known {
		text, problems := jsregexp.Translate(src, flags)
		p = pattern{
			when:     is(value + " matches `" + text + "`"),
			problems: problems,
			spaces:   strings.Contains(text, `\s`) || strings.Contains(text, `\S`),
		}
		ps[key] = p
	}
	if first := "first with a set of white space"; p.spaces && !ps[first].spaces {
		ps[first] = pattern{spaces: true}
		found = append(found, lost(n, `in this pattern and others \s and \S know ASCII's white space only`))
	}
	if len(p.problems) > 0 {
		at := finding{kind: noCounterpart, node: n, places: p.problems}
		if n.Value != src {
			at.shift = 1 // behind the first slash
		}
		found = append(found, at)
	}
	return p.when, len(p.problems) == 0, found
}

// A document is a parsed file.
type document struct {
	name string // of the file
	root *yaml.Node
}

// A reading is the content of one tool's configuration as rules of ours.
type reading struct {
	before findings // that belong to no part
	// parts are in the order of the source. They are read one at a time, so that the
	// caller can stop when the rules become too large.
	parts  iter.Seq[part]
	after  findings       // hints that follow those of the parts
	limits map[string]int // of actions of a type per event, beside those that the rules need
	shadow bool           // the source writes nothing
	// unlimited: the number of changes has no limit.
	unlimited bool
}

// guarded returns the reading with further findings, which come first, and with a change to every
// part.
func (r reading) guarded(before findings, change func(p part) part) reading {
	parts := r.parts
	r.before = append(before, r.before...)
	r.parts = func(yield func(part) bool) {
		for p := range parts {
			if !yield(change(p)) {
				return
			}
		}
	}
	return r
}

// A part is one key or step of the source and the rules that it becomes.
type part struct {
	name     string
	from, to int // lines of the source; 0: none
	rules    []rule
	found    findings
	interval bool // its comments may follow each other at once
	comments bool // so they may, and there is no limit to their number
}

// eachPair returns the parts of the top mapping's keys; keys that keep refuses are left
// out. A part ends where the next key starts.
func eachPair(pairs []pair, keep func(key string) bool, read func(p pair) part) iter.Seq[part] {
	return func(yield func(part) bool) {
		for i, p := range pairs {
			if !keep(p.key.Value) {
				continue
			}
			one := read(p)
			one.name, one.from, one.to = p.key.Value, p.key.Line, math.MaxInt
			if i+1 < len(pairs) {
				one.to = pairs[i+1].key.Line - 1
			}
			if !yield(one) {
				return
			}
		}
	}
}

// everyKey keeps all keys.
func everyKey(string) bool { return true }

// peopleHints returns the differences between the tool and rules that add labels when people change
// labels. With sync there are none: the rules override people, as the tool does.
func (s step) peopleHints(tool string, sync bool) findings {
	if sync {
		return nil
	}
	at := yamlfile.Child(s.with, "sync-labels")
	if at == nil {
		at = yamlfile.Child(s.node, "uses")
	}
	if at == nil {
		return findings{general("A label that a person took off is not added again; " + tool + " adds it, as rules with override_humans: true do.")}
	}
	return findings{lost(at, "a label that a person took off is not added again; the source adds it, as rules with override_humans: true do").inWorkflow()}
}
