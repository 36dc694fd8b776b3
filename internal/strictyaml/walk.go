package strictyaml

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// A walker visits a fresh tree once: it resolves aliases, bounds the tree and
// records what no document may hold.
type walker struct {
	f    *File
	left int                 // nodes that may still come
	open map[*yaml.Node]bool // the nodes on the way from the root
	seen map[*yaml.Node]bool // aliased nodes come again; their problems do not
	at   *yaml.Node          // the last node entered
}

func (w *walker) walk(n *yaml.Node, depth int) error {
	w.left--
	w.at = n
	switch {
	case w.left < 0:
		return fmt.Errorf("the document has more than %d values, its aliases counted", maxNodes)
	case depth > maxDepth:
		return fmt.Errorf("the document is nested more than %d deep", maxDepth)
	case w.open[n]:
		return errors.New("an alias stands inside what it stands for")
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

// checkTag refuses tags such as "!label", which is what "!label(...)" becomes, and
// takes them off, so that the value brings no further problems.
func (w *walker) checkTag(n *yaml.Node) {
	if !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return
	}
	w.f.Problemf(n, "%q is a YAML tag here; %s", n.Tag, hintNot)
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
			w.f.Problemf(k, "want a key, got %s", kind(k))
		case k.ShortTag() == "!!merge":
			w.f.Problemf(k, "merge keys (<<) are not supported; write the keys out, or use an alias as a whole value")
		case first[k.Value] != nil && first[k.Value] != k:
			w.f.Problemf(k, "%s is set twice in this mapping; the first is on line %d", k.Value, first[k.Value].Line)
		default:
			first[k.Value] = k
		}
	}
}
