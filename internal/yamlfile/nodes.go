package yamlfile

import (
	"iter"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Child returns the value at a path of keys in nested mappings, or nil. If a key is repeated, its
// first value is returned.
func Child(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = value(n, key)
	}
	return n
}

func value(n *yaml.Node, key string) *yaml.Node {
	for k, v := range Pairs(n) {
		if k.Value == key {
			return v
		}
	}
	return nil
}

// Pairs iterates over the keys and values of a mapping. Other nodes and nil have no pairs.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content) && yield(n.Content[i], n.Content[i+1]); i += 2 {
		}
	}
}

// Items returns the items of a list. A value that is not a list counts as a list of one.
func Items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// IsNull reports whether a value is missing or null.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// EachField calls visit for every key of the mapping n that has a field in the struct v, also in
// nested mappings. v must have been decoded from n.
//
// path is the path of n; it is empty at the top of a document. The key max_retries below queue has
// the path "queue.max_retries". Items of a list have the path of the list.
func (f *File) EachField(path string, n *yaml.Node, v reflect.Value, visit func(path string, at *yaml.Node, v reflect.Value)) {
	switch {
	case n == nil || v.Type() == nodeType || v.Kind() == reflect.Pointer && (v.IsNil() || v.Type().Elem() == nodeType):
	case v.Kind() == reflect.Pointer:
		f.EachField(path, n, v.Elem(), visit)
	case v.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i := range min(v.Len(), len(n.Content)) {
			f.EachField(path, n.Content[i], v.Index(i), visit)
		}
	case v.Kind() == reflect.Struct:
		for _, fd := range f.shape(v.Type()).known {
			if at := Child(n, fd.to.name); at != nil {
				below := strings.TrimPrefix(path+"."+fd.to.name, ".")
				visit(below, at, v.Field(fd.index))
				f.EachField(below, at, v.Field(fd.index), visit)
			}
		}
	}
}
