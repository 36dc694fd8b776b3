package importer

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/importer/jsyaml"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/yamlfile"
)

const maxLabel = 50 // GitHub's limit of a label's name, in characters

// A pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// labels returns the entries of a file's top-level mapping, which lists the labels of a tool. Its
// keys are the labels as the tool's parser reads them.
func (d document) labels(action string, parser jsyaml.Version) ([]pair, findings) {
	if d.root.Kind != yaml.MappingNode {
		return nil, findings{wrong(d.root, "this is not a configuration of %s: want a mapping of labels, got %s", action, yamlfile.Kind(d.root))}
	}
	var found findings
	for _, p := range parser.Refused(d.root, d.lines) {
		found = append(found, wrong(p.Node, "%s", p.Msg))
	}
	pairs := pairsOf(d.root)
	for i, p := range pairs {
		key := *p.key
		if key.Value = parser.Key(p.key); key.Value != p.key.Value {
			found = append(found, lost(p.key, "%s reads this key as %s; so does Foreman. Quote the key for a label with its own text", action, quoted(key.Value)))
			pairs[i].key = &key
		}
	}
	return pairs, found
}

func pairsOf(n *yaml.Node) []pair {
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, pair{n.Content[i], n.Content[i+1]})
	}
	return out
}

// scalar reads a scalar that must be a text; any other value is a mistake.
func scalar(n *yaml.Node, want string) (string, findings) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", findings{wrong(n, "want %s, got %s", want, yamlfile.Kind(n))}
	}
	return n.Value, nil
}

// labelName reads a label's name at the node n. It returns a finding if GitHub allows no such name.
func labelName(n *yaml.Node, name string) (string, findings) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 4*maxLabel || utf8.RuneCountInString(name) > maxLabel {
		return "", findings{lost(n, "%s is not a valid label name: want 1 to %d characters", quoted(name), maxLabel)}
	}
	return name, nil
}

// inCase returns the condition that the issue has a label with exactly this name. The function label
// ignores case.
func inCase(name string) term {
	return is(strconv.Quote(name) + " in issue.labels").needs(othertools.Example{Labels: []string{name}})
}

// parseTime parses a time in one of the formats that are common with JavaScript's Date.
func parseTime(text string) (t time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01", time.RFC1123Z, time.RFC1123, "2 Jan 2006", "Jan 2, 2006"} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 && t.Year() < 10000 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// patterns caches translated regular expressions, because aliases may repeat them.
type patterns map[string]pattern

// A pattern is the condition for a regular expression of JavaScript, or the parts of the
// expression that have no counterpart.
type pattern struct {
	when     term
	problems []jsregexp.Problem
	spaces   bool // the expression contains a set of white space such as \s
}

// matching returns the condition that a value matches a regular expression of JavaScript at the
// node n. ok is false if the expression has no counterpart.
func (ps patterns) matching(n *yaml.Node, value, src, flags string) (t term, ok bool, found findings) {
	key := value + "/" + src + "/" + flags
	p, known := ps[key]
	if !known {
		text, problems := jsregexp.Translate(src, flags)
		p = pattern{
			when:     matches(value, text),
			problems: problems,
			spaces:   strings.Contains(text, `\s`) || strings.Contains(text, `\S`),
		}
		ps[key] = p
	}
	if first := "first with a set of white space"; p.spaces && !ps[first].spaces {
		ps[first] = pattern{spaces: true}
		found = append(found, lost(n, `in this and all other patterns \s and \S match only ASCII white space`))
	}
	if len(p.problems) > 0 {
		at := finding{kind: noCounterpart, node: n, places: p.problems}
		if n.Value != src {
			at.shift = 1 // the expression begins after the first slash
		}
		found = append(found, at)
	}
	return p.when, len(p.problems) == 0, found
}

// A document is a parsed file.
type document struct {
	name  string // of the file
	root  *yaml.Node
	lines []string // of its text
}

// A reading is the configuration of one tool, converted to our rules.
type reading struct {
	before findings // findings that belong to no part
	// parts are in the order of the source. They are read one at a time, so that the
	// caller can stop when the rules become too large.
	parts  iter.Seq[part]
	after  findings       // hints after those of the parts
	limits map[string]int // limits of actions per event, by type, in addition to those that the rules need
	shadow bool           // the source writes nothing
	// unlimited means that the number of changes has no limit.
	unlimited bool
}

// guarded returns the reading with further findings at the start, and with change applied to every
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

// A part is one key or step of the source and the rules that are made of it.
type part struct {
	name     string
	from, to int // lines of the source; 0: none
	rules    []rule
	found    findings
	interval bool // its comments need no minimal time between them
	comments bool // like interval, and the number of comments has no limit
}

// eachPair returns the parts of the keys of a top-level mapping for which keep returns true. A part
// ends where the next key starts.
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

// everyKey returns true for every key.
func everyKey(string) bool { return true }

// peopleHints returns the differences from the tool if people change labels that our rules add.
// With sync there are none, because the rules then override people, as the tool does.
func (s step) peopleHints(tool string, sync bool) findings {
	if sync {
		return nil
	}
	at := yamlfile.Child(s.with, "sync-labels")
	if at == nil {
		at = yamlfile.Child(s.use.Step, "uses")
	}
	if at == nil {
		return findings{general("Only rules with override_humans: true add a label again that a person removed; " + tool + " always does.")}
	}
	return findings{lost(at, "only rules with override_humans: true add a label again that a person removed; %s always does", tool).inWorkflow()}
}
