package serverconfig

import (
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/config/internal/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Spec is the place of a configuration, and the inputs of its values.
type Spec struct {
	Path string // of the file; rule files that it includes are relative to its folder
	// Lookup returns an environment variable, and whether it is set; nil: none is.
	Lookup func(string) (string, bool)
	Home   string // directory in place of "~"; empty: paths with it are refused
	// Database checks the URL of a PostgreSQL database; its error repeats none of it. Nil:
	// any URL is right.
	Database func(url string) error
}

// A file is a configuration file, for the checks of its sections.
type file struct {
	schema.Checker

	agents  schema.Checker // of the keys of one agent
	decoder yamlfile.Decoder
	spec    Spec
	root    *yaml.Node
}

// node returns the value of a key, or nil.
func (f file) node(keys ...string) *yaml.Node { return yamlfile.Child(f.root, keys...) }

// shadow reports whether the mode is shadow: nothing is written.
func (f file) shadow() bool {
	at := f.node("mode")
	return at != nil && at.Value == string(config.ModeShadow)
}

// item returns an element of a list, or n itself if it has none.
func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}

// resolve reports variables in the texts of a value, which may be nil, that are not set. The
// texts themselves are not used, so they may hold secrets.
func (f file) resolve(n *yaml.Node) {
	if n == nil {
		return
	}
	for _, v := range yamlfile.Pairs(n) {
		f.resolve(v)
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, v := range n.Content {
			f.resolve(v)
		}
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		var text secret.Text
		f.decoder.Decode(n, &text)
	}
}
