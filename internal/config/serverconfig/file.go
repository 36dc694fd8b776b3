package serverconfig

import (
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Spec names a configuration file, and the inputs for its values.
type Spec struct {
	Path string // of the file; its includes are relative to its folder
	// Lookup returns the value of an environment variable, and whether it is set; nil: none is set.
	Lookup func(string) (string, bool)
	Home   string // directory for "~"; empty: paths with "~" are rejected
	// Database checks the URL of a PostgreSQL database. Its error must not repeat any part of the
	// URL. Nil: every URL is accepted.
	Database func(url string) error
}

// lookup returns the value of an environment variable, and whether it is set.
func (s Spec) lookup(name string) (string, bool) {
	if s.Lookup == nil {
		return "", false
	}
	return s.Lookup(name)
}

// A file is a configuration file, as the checks of its sections use it.
type file struct {
	schema.Checker

	agents  schema.Checker // for the keys of one agent
	decoder yamlfile.Decoder
	spec    Spec
	root    *yaml.Node
}

// node returns the value of a key, or nil.
func (f file) node(keys ...string) *yaml.Node { return yamlfile.Child(f.root, keys...) }

// shadow reports whether the mode is shadow, in which nothing is written.
func (f file) shadow() bool {
	at := f.node("mode")
	return at != nil && at.Value == string(config.ModeShadow)
}

// item returns element i of a list, or n itself if there is no such element.
func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}

// resolve reports variables that the texts of a value use but that are not set. n may be nil.
// Secret variables are allowed, because the server does not use these texts.
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
