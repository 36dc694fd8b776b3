package config

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// oneOf reports a text that is not one of the wanted ones. An absent value is right, and one
// of the wrong type was reported before.
func oneOf(f *yamlfile.File, n *yaml.Node, name string, want ...string) {
	if n == nil || n.Tag != "!!str" || slices.Contains(want, n.Value) {
		return
	}
	f.Problemf(n, "%s: want %s, got %q%s", name, strings.Join(want, " or "), n.Value, yamlfile.DidYouMean(n.Value, want))
}

// positive reports a duration of 0 or less.
func positive(f *yamlfile.File, at *yaml.Node, name string) {
	if at == nil {
		return
	}
	if d, err := protocol.ParseDuration(at.Value); err == nil && d <= 0 {
		f.Problemf(at, "%s: want more than 0", name)
	}
}

// knownActions returns the names of the actions that a plan may contain.
func knownActions() []string {
	specs := protocol.ActionSpecs()
	known := make([]string, 0, len(specs))
	for _, s := range specs {
		known = append(known, s.Name)
	}
	return known
}

// checkActions reports the entries of a list that are no action's name.
func checkActions(f *yamlfile.File, list *yaml.Node, name string) {
	if list == nil {
		return
	}
	known := knownActions()
	for _, item := range list.Content {
		if item.ShortTag() == "!!str" && !slices.Contains(known, item.Value) {
			f.Problemf(item, "%s: unknown action %q%s", name, item.Value, yamlfile.DidYouMean(item.Value, known))
		}
	}
}

// checkLimits reports the mistakes in the limits of the mapping n.
func checkLimits(f *yamlfile.File, n *yaml.Node, prefix string, limits map[string]int) {
	known := knownActions()
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		at := yamlfile.Child(n, name)
		if !slices.Contains(known, name) {
			f.Problemf(at, "%s: unknown action %q%s", prefix, name, yamlfile.DidYouMean(name, known))
		}
		if name == protocol.ActionAddLabels {
			f.Problemf(at, "%s.add_labels: labels are counted one by one, under add_label", prefix)
		}
		if limits[name] < 0 {
			f.Problemf(at, "%s.%s: want 0 or more, got %d", prefix, name, limits[name])
		}
	}
}

// checkLabels reports the mistakes in the globs of the mapping n; nil labels have none.
func checkLabels(f *yamlfile.File, n *yaml.Node, prefix string, labels *policy.Labels) {
	if labels == nil {
		return
	}
	checkGlobs(f, yamlfile.Child(n, "allow"), prefix+".allow", labels.Allow)
	checkGlobs(f, yamlfile.Child(n, "deny"), prefix+".deny", labels.Deny)
}

func checkGlobs(f *yamlfile.File, at *yaml.Node, name string, globs []string) {
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil || g == "" {
			f.Problemf(at, "%s: %q is no glob", name, g)
		}
	}
}
