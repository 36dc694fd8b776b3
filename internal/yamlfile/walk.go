package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// A mistake is a wrong node.
type mistake struct {
	node *yaml.Node
	msg  string
}

// walk visits a parsed tree once. It resolves aliases, checks the limits and returns forbidden
// contents. A fatal mistake ends it.
func walk(root *yaml.Node) (found []mistake, fatal *mistake) {
	w := walker{left: maxNodes, open: map[*yaml.Node]bool{}, seen: map[*yaml.Node]bool{}}
	if err := w.walk(root, 0); err != nil {
		return nil, &mistake{w.at, err.Error()}
	}
	return w.found, nil
}

// A walker is one visit of a tree.
type walker struct {
	found []mistake
	left  int                 // how many more nodes are allowed
	open  map[*yaml.Node]bool // the nodes on the path from the root
	seen  map[*yaml.Node]bool // the nodes of repeated aliases; their problems are not repeated
	at    *yaml.Node          // the last node entered
}

func (w *walker) wrong(n *yaml.Node, format string, args ...any) {
	w.found = append(w.found, mistake{n, fmt.Sprintf(format, args...)})
}

func (w *walker) walk(n *yaml.Node, depth int) error {
	w.left--
	w.at = n
	switch {
	case w.left < 0:
		return fmt.Errorf("the document has more than %d values, including its aliases", maxNodes)
	case depth > maxDepth:
		return fmt.Errorf("the document is nested more than %d deep", maxDepth)
	case w.open[n]:
		return errors.New("an alias is inside its own anchor")
	}
	first := !w.seen[n]
	w.seen[n] = true
	w.checkTag(n)
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	w.open[n] = true
	defer delete(w.open, n)
	for i, c := range n.Content {
		if c.Kind == yaml.AliasNode {
			c = c.Alias
			n.Content[i] = c
		}
		if err := w.walk(c, depth+1); err != nil {
			return err
		}
	}
	if n.Kind == yaml.MappingNode && first {
		w.checkKeys(n)
	}
	return nil
}

// checkTag rejects custom tags such as "!label", which people write for "not label(...)". It
// removes them, so that the value causes no further problems.
func (w *walker) checkTag(n *yaml.Node) {
	if !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return
	}
	w.wrong(n, "%q is a YAML tag here; %s", n.Tag, hintNot)
	switch n.Kind {
	case yaml.ScalarNode:
		n.Tag = "!!str"
	case yaml.SequenceNode:
		n.Tag = "!!seq"
	case yaml.MappingNode:
		n.Tag = "!!map"
	}
}

func (w *walker) checkKeys(n *yaml.Node) {
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!null":
			w.wrong(k, "want a key, got %s", Kind(k))
		case k.ShortTag() == "!!merge":
			w.wrong(k, "merge keys (<<) are not supported; write the keys out, or use an alias as a whole value")
		case first[k.Value] != nil && first[k.Value] != k:
			w.wrong(k, "%s is set twice in this mapping; the first is on line %d", k.Value, first[k.Value].Line)
		default:
			first[k.Value] = k
		}
	}
}
