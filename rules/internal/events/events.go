// Package events contains the names of the events to which rules can listen.
package events

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/triage"
)

// Keys returns the names that "on" takes, from eventkind.Kinds.
func Keys() []string {
	var names, keys []string
	for _, k := range eventkind.Kinds() {
		switch {
		case k.Name == triage.EventPullRequestTarget: // rules use pull_request in its place
		case k.Activities == nil:
			names = append(names, k.Name)
		default:
			names = append(names, k.Name+".*")
			keys = append(keys, k.Keys()...)
		}
	}
	return append(names, keys...)
}

// Schedule is the event of a scheduled run, which searches for issues.
const Schedule = triage.EventSchedule

// Defaults lists the events of a rule without "on".
func Defaults() []string {
	return []string{"issues.opened", "issues.reopened", "workflow_dispatch", "repository_dispatch"}
}

// Key returns the name of an event with its action, such as "issues.opened".
func Key(name, action string) string {
	if action == "" {
		return name
	}
	return name + "." + action
}

// An Event is an event with its names.
type Event struct {
	Name string // such as "issues"
	Key  string // name and activity, such as "issues.opened", or only the name
}

// Of returns the event of that name and activity, which may be empty.
func Of(name, activity string) Event { return Event{name, Key(name, activity)} }

// Listens reports whether one of the names in on covers the event.
func Listens(on []string, e Event) bool {
	return slices.ContainsFunc(on, func(name string) bool {
		if all, ok := strings.CutSuffix(name, ".*"); ok {
			return e.Name == all
		}
		return name == e.Key || name == e.Name && e.Name == "repository_dispatch"
	})
}

// Decode reads the value of "on". A nil node means the default events.
func Decode(f *yamlfile.File, n *yaml.Node) []string {
	if n == nil {
		return Defaults()
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		f.Problemf(n, "on: an empty list listens to nothing; name an event, or leave on out")
	}
	var on []string
	for _, item := range items {
		var key string
		switch tag := item.ShortTag(); {
		case item.Kind != yaml.ScalarNode, tag != "!!str" && tag != "!!null":
			f.Problemf(item, "on: want the name of an event, such as issues.opened, or a list of names, got %s", yamlfile.Kind(item))
			continue
		case !f.DecodeKey("on", item, &key):
			continue
		}
		Check(f, item, "on", key)
		on = append(on, key)
	}
	return on
}

// Check records a mistake in f when key is not a name of an event. n is the value of the key
// section in the file.
func Check(f *yamlfile.File, n *yaml.Node, section, key string) {
	keys := Keys()
	typ, dispatch := strings.CutPrefix(key, "repository_dispatch.")
	switch {
	case slices.Contains(keys, key), dispatch && typ != "" && typ != "*":
	case slices.Contains(keys, key+".*"):
		f.Problemf(n, "on: %s has several activities; name them, such as %s, or write %s.* for all", key, FirstOf(keys, key), key)
	case strings.HasPrefix(key, "pull_request_target."):
		f.Problemf(n, "on: write pull_request%s; it stands for pull_request_target too", strings.TrimPrefix(key, "pull_request_target"))
	case slices.Contains(keys, "issues."+key):
		f.Problemf(n, "%s: unknown event %q; write issues.%s", section, key, key)
	case slices.Contains(keys, "issue_comment."+key):
		f.Problemf(n, "%s: unknown event %q; write issue_comment.%s", section, key, key)
	default:
		hint := yamlfile.DidYouMean(key, keys)
		if hint == "" {
			hint = "; events are those of issues, issue_comment and pull_request, such as issues.opened, and schedule, workflow_dispatch and repository_dispatch"
		}
		f.Problemf(n, "%s: unknown event %q%s", section, key, hint)
	}
}

// FirstOf returns the first key of an event that has an activity.
func FirstOf(keys []string, event string) string {
	i := slices.IndexFunc(keys, func(k string) bool {
		return strings.HasPrefix(k, event+".") && !strings.HasSuffix(k, "*")
	})
	return keys[i]
}

// Covers reports whether on, a name in "on", includes every event that the name other stands for.
func Covers(on, other string) bool {
	if event, ok := strings.CutSuffix(on, ".*"); ok {
		return other == on || strings.HasPrefix(other, event+".")
	}
	return on == other || on == "repository_dispatch" && strings.HasPrefix(other, on+".")
}

// Schema returns the schema of one event: a known name, or a type of repository_dispatch.
func Schema(known []string) map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"enum": known}, map[string]any{"type": "string", "pattern": `^repository_dispatch\.[^*]`},
	}}
}
