package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// A deed is what is said of one key; the zero one says nothing.
type deed pair

// checkDeeds reports values of the wrong type.
func (d *draft) checkDeeds(deeds map[string]deed) {
	for _, key := range actionKeys() {
		v, given := deeds[key]
		switch {
		case !given:
		case slices.Contains([]string{"close", "reopen", "lock", "unlock"}, key):
			if _, ok := truth(v.value); !ok {
				d.file.Problemf(v.value, "%s: want true or false, got %s", key, strictyaml.Kind(v.value))
			}
		default:
			many := key == "comment" || key == "label" || key == "unlabel"
			if len(items(v.value)) > maxDeeds {
				d.file.Problemf(v.value, "%s: %d items; at most %d are allowed", key, len(items(v.value)), maxDeeds)
				continue
			}
			for _, item := range items(v.value) {
				if _, ok := textOrFalse(item); !ok || !many && v.value.Kind != yaml.ScalarNode {
					d.file.Problemf(item, "%s: want a text, got %s", key, strictyaml.Kind(item))
				}
			}
		}
	}
}

// truth reads true or false, as such or as a text.
func truth(n *yaml.Node) (value, ok bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" && n.ShortTag() != "!!str" {
		return false, false
	}
	s := strings.ToLower(strings.TrimSpace(n.Value))
	return s == "true", s == "true" || s == "false"
}

// textOrFalse reads a text; false and an empty one mean none.
func textOrFalse(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", false
	case n.ShortTag() == "!!bool" && strings.EqualFold(n.Value, "false"):
		return "", true
	}
	return strings.TrimSpace(n.Value), n.ShortTag() == "!!str"
}

func (v deed) set() bool {
	if v.value == nil {
		return false
	}
	on, _ := truth(v.value)
	return on
}

// texts returns the texts of a deed and where they stand.
func (v deed) texts() (texts []string, at []*yaml.Node) {
	if v.value == nil {
		return nil, nil
	}
	list := items(v.value)
	for _, item := range list[:min(len(list), maxDeeds)] {
		if s, _ := textOrFalse(item); s != "" {
			texts, at = append(texts, s), append(at, item)
		}
	}
	return texts, at
}
