package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// triggers are the events of a workflow.
type triggers struct {
	names  []string // names of the events
	events []string // in the form of a rule's "on", such as "issues.opened"
	guards []term   // conditions from filters of branches and paths
	found  findings
}

// activities returns the activities of an event that both a workflow and a rule can name.
func activities(event string) []string {
	both := []string{"opened", "edited", "closed", "reopened", "assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked", "milestoned", "demilestoned"}
	switch event {
	case "issues":
		return append(both, "deleted", "transferred", "pinned", "unpinned", "typed", "untyped")
	case "pull_request":
		return append(both, "synchronize", "converted_to_draft", "ready_for_review", "review_requested", "review_request_removed",
			"enqueued", "dequeued", "auto_merge_enabled", "auto_merge_disabled")
	case "issue_comment":
		return []string{"created", "edited", "deleted"}
	}
	return nil
}

// readTriggers reads the events of a workflow from its key "on".
func readTriggers(on *yaml.Node) triggers {
	var t triggers
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		pairs := pairsOf(on)
		for _, p := range pairs {
			t.add(p.key, p.value)
		}
		for _, p := range pairs {
			t.filters(p.key.Value, p.value)
		}
	case on.Kind == yaml.SequenceNode:
		for _, item := range on.Content {
			t.add(item, nil)
		}
	default:
		t.add(on, nil)
	}
	return t
}

// add adds an event with its settings.
func (t *triggers) add(key, settings *yaml.Node) {
	event := strings.TrimSuffix(key.Value, "_target")
	t.names = append(t.names, key.Value)
	switch {
	case activities(event) != nil:
		events, found := typesOf(event, yamlfile.Child(settings, "types"))
		t.found = append(t.found, found...)
		for _, e := range events {
			if !slices.Contains(t.events, e) {
				t.events = append(t.events, e)
			}
		}
	case slices.Contains([]string{"workflow_dispatch", "workflow_call", "schedule"}, event):
	default:
		t.found = append(t.found, lost(key, "no rule can listen to the event %s", quoted(key.Value)).inWorkflow())
	}
}

// typesOf returns the activities of one event. Without "types" these are GitHub's default.
func typesOf(event string, types *yaml.Node) ([]string, findings) {
	switch {
	case isNull(types) && event == "pull_request":
		return []string{"pull_request.opened", "pull_request.synchronize", "pull_request.reopened"}, nil
	case isNull(types):
		return []string{event + ".*"}, nil
	}
	var out []string
	var found findings
	for _, item := range items(types) {
		if !slices.Contains(activities(event), item.Value) {
			found = append(found, lost(item, "no rule can listen to %s", quoted(event+"."+item.Value)).inWorkflow())
			continue
		}
		out = append(out, event+"."+item.Value)
	}
	return out, found
}

// filters adds conditions for the branch and path filters of a pull request event.
func (t *triggers) filters(event string, settings *yaml.Node) {
	name := strings.TrimSuffix(event, "_target")
	for _, key := range []string{"branches", "branches-ignore", "paths", "paths-ignore"} {
		n := yamlfile.Child(settings, key)
		if isNull(n) || name != "pull_request" {
			continue
		}
		var when term
		var ok bool
		if strings.HasPrefix(key, "branches") {
			when, ok = branches(items(n))
		} else {
			when, ok = paths(items(n), strings.HasSuffix(key, "ignore"))
		}
		// A condition would also apply to the other events of the rule, which have no such filter.
		if !ok || len(t.events) == 0 || slices.ContainsFunc(t.events, func(e string) bool { return !strings.HasPrefix(e, "pull_request.") }) {
			t.found = append(t.found, lost(n, "%s: this filter was not imported", key).inWorkflow())
			continue
		}
		if key == "branches-ignore" || key == "paths-ignore" {
			when = is("not (" + when.line() + ")")
		}
		t.guards = append(t.guards, when)
	}
}

// plainBranch matches a branch filter without a pattern.
var plainBranch = regexp.MustCompile(`^[^*?+\[\]!]+$`)

// branches returns the condition that the base branch matches one of the filters. ok is false for
// patterns other than * and **.
func branches(nodes []*yaml.Node) (when term, ok bool) {
	var names, patterns []string
	for _, n := range nodes {
		switch {
		case n.Kind != yaml.ScalarNode || strings.ContainsAny(n.Value, "?+[]!`") || n.Value == "":
			return term{}, false
		case plainBranch.MatchString(n.Value):
			names = append(names, n.Value)
		default:
			pattern := strings.ReplaceAll(regexp.QuoteMeta(n.Value), `\*\*`, ".*")
			patterns = append(patterns, strings.ReplaceAll(pattern, `\*`, "[^/]*"))
		}
	}
	var terms []term
	switch len(names) {
	case 0:
	case 1:
		terms = append(terms, is(`pr.base == `+strconv.Quote(names[0])))
	default:
		terms = append(terms, is("pr.base in "+list(names)))
	}
	if len(patterns) > 0 {
		terms = append(terms, is("pr.base matches `^(?:"+strings.Join(patterns, "|")+")$`"))
	}
	return some(terms...), len(terms) > 0
}

// paths returns the condition that one changed file, or every one, matches the paths. ok is false
// for patterns that our globs cannot express.
func paths(list []*yaml.Node, every bool) (when term, ok bool) {
	function := "any_file"
	if every {
		function = "all_files"
	}
	var globs []string
	for _, n := range list {
		glob := n.Value
		if rest, deep := strings.CutPrefix(glob, "**."); deep {
			glob = "**/*." + rest
		}
		for folder := range strings.SplitSeq(glob, "/") {
			if n.Kind != yaml.ScalarNode || strings.ContainsAny(folder, "?+[]!\\") || folder == "" || folder != "**" && strings.Contains(folder, "**") {
				return term{}, false
			}
		}
		globs = append(globs, glob)
	}
	return is(call(function, globs...)), len(globs) > 0
}
