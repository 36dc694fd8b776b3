package yamlfile

import "gopkg.in/yaml.v3"

// Child returns the value that keys lead to, each in the mapping before it; nil when there
// is none. Of a key that stands there twice, the first counts.
func Child(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = value(n, key)
	}
	return n
}

func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
