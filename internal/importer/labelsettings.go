package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// maxValues is the maximal number of comments or labels under one key.
const maxValues = 50

// threadKeys returns the keys of label-actions that are kinds of threads.
func threadKeys() []string { return []string{"issues", "prs", "discussions"} }

// actionKeys returns the keys that name an action or its reason.
func actionKeys() []string {
	return []string{"close", "close-reason", "reopen", "lock", "unlock", "lock-reason", "comment", "label", "unlabel"}
}

// A setting is the value of one of actionKeys; the zero setting means that the key is missing.
type setting pair

// settings are the settings of one label, by key.
type settings map[string]setting

// readSettings splits the value of a label into the settings for all threads and those of one kind.
func readSettings(n *yaml.Node) (general settings, special map[string]settings, found findings) {
	general, special = settings{}, map[string]settings{}
	for _, p := range pairsOf(n) {
		key := p.key.Value
		switch {
		case slices.Contains(threadKeys(), key) && p.value.Kind == yaml.MappingNode:
			special[key] = settings{}
			if key == "discussions" {
				found = append(found, lost(p.key, "Foreman does not handle discussions"))
			}
			for _, q := range pairsOf(p.value) {
				if !slices.Contains(actionKeys(), q.key.Value) {
					found = append(found, unknownKey(q.key, actionKeys()))
				}
				special[key][q.key.Value] = setting(q)
			}
		case slices.Contains(threadKeys(), key):
			found = append(found, wrong(p.value, "%s: want a mapping of actions, got %s", key, yamlfile.Kind(p.value)))
		case slices.Contains(actionKeys(), key):
			general[key] = setting(p)
		default:
			found = append(found, unknownKey(p.key, append(actionKeys(), threadKeys()...)))
		}
	}
	found = append(found, general.check()...)
	for _, key := range threadKeys() {
		found = append(found, special[key].check()...)
	}
	return general, special, found
}

// with returns the settings of one kind of threads: special, and the general ones that special
// lacks.
func (s settings) with(special settings) settings {
	out := settings{}
	for _, key := range actionKeys() {
		if v, ok := s[key]; ok {
			out[key] = v
		}
		if v, ok := special[key]; ok {
			out[key] = v
		}
	}
	return out
}

// check returns findings about values of a wrong type.
func (s settings) check() findings {
	var found findings
	for _, key := range actionKeys() {
		v, given := s[key]
		switch {
		case !given:
		case slices.Contains([]string{"close", "reopen", "lock", "unlock"}, key):
			if _, ok := truth(v.value); !ok {
				found = append(found, wrong(v.value, "%s: want true or false, got %s", key, yamlfile.Kind(v.value)))
			}
		default:
			found = append(found, v.check(key)...)
		}
	}
	return found
}

// check returns findings about a value that must be a text or a list of texts.
func (v setting) check(key string) findings {
	many := key == "comment" || key == "label" || key == "unlabel"
	list := yamlfile.Items(v.value)
	if len(list) > maxValues {
		return findings{wrong(v.value, "%s: %d items; at most %d are allowed", key, len(list), maxValues)}
	}
	var found findings
	for _, item := range list {
		if _, ok := textOrFalse(item); !ok || !many && v.value.Kind != yaml.ScalarNode {
			found = append(found, wrong(item, "%s: want a text, got %s", key, yamlfile.Kind(item)))
		}
	}
	return found
}

// truth reads true or false, as a boolean or as a text.
func truth(n *yaml.Node) (value, ok bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" && n.ShortTag() != "!!str" {
		return false, false
	}
	s := strings.ToLower(strings.TrimSpace(n.Value))
	return s == "true", s == "true" || s == "false"
}

// textOrFalse reads a text. false and an empty text both mean that there is none.
func textOrFalse(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", false
	case n.ShortTag() == "!!bool" && strings.EqualFold(n.Value, "false"):
		return "", true
	}
	return strings.TrimSpace(n.Value), n.ShortTag() == "!!str"
}

// isTrue reports whether a setting is present and true.
func (v setting) isTrue() bool {
	if v.value == nil {
		return false
	}
	on, _ := truth(v.value)
	return on
}

// texts returns the texts of a setting and their nodes.
func (v setting) texts() (texts []string, at []*yaml.Node) {
	if v.value == nil {
		return nil, nil
	}
	list := yamlfile.Items(v.value)
	for _, item := range list[:min(len(list), maxValues)] {
		if s, _ := textOrFalse(item); s != "" {
			texts, at = append(texts, s), append(at, item)
		}
	}
	return texts, at
}
