package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/strictyaml"
)

// A pair is a key of a mapping and its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the entries of the file's top mapping.
func (d *draft) pairs() []pair {
	root := d.file.Root()
	if root.Kind != yaml.MappingNode {
		d.file.Problemf(root, "this is no configuration of %s: want a mapping of labels, got %s", action(d.tool), strictyaml.Kind(root))
		return nil
	}
	return pairsOf(root)
}

func pairsOf(n *yaml.Node) []pair {
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, pair{n.Content[i], n.Content[i+1]})
	}
	return out
}

func next(pairs []pair, i int) *yaml.Node {
	if i+1 < len(pairs) {
		return pairs[i+1].key
	}
	return nil
}

// flag reads an input that is true or false, or 1 or 0.
func (d *draft) flag(s step, name string) bool {
	text, n := d.input(s, name)
	if n != nil && !slices.Contains([]string{"true", "false", "1", "0", ""}, strings.ToLower(text)) {
		s.file.Problemf(n, "%s: want true or false, got %s", name, quoted(text))
	}
	return strings.EqualFold(text, "true") || text == "1"
}

// items returns the items of a list, or a single value as one.
func items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// text reads a scalar that must be a text; anything else is a mistake.
func (d *draft) text(n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.file.Problemf(n, "want %s, got %s", want, strictyaml.Kind(n))
		return "", false
	}
	return n.Value, true
}

// A pattern is a condition made of a regular expression, or what it cannot say.
type pattern struct {
	term  term
	found []jsregexp.Problem
}

// pattern returns the condition that a value matches a JavaScript regular expression,
// which stands in the scalar n.
func (d *draft) pattern(n *yaml.Node, value, src, flags string) (term, bool) {
	key := value + "/" + src + "/" + flags
	p, ok := d.read[key]
	if !ok {
		text, found := jsregexp.Translate(src, flags)
		p = pattern{is(value + " matches `" + text + "`"), found}
		d.read[key] = p
		if strings.Contains(text, `\s`) || strings.Contains(text, `\S`) {
			d.hint(`In a pattern \s and \S know ASCII's white space only.`)
		}
	}
	offset := 0
	if n.Value != src {
		offset = 1 // behind the first slash
	}
	for _, f := range p.found {
		d.noteIn(d.file, n, offset+f.At, f.Msg)
	}
	return p.term, len(p.found) == 0
}
