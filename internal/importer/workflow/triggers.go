package workflow

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/condition"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Trigger describes when a step runs: on one of the events, if all of the conditions are true.
type Trigger struct {
	// Events are in GitHub's terms, such as "pull_request_target.opened" or "issues.*".
	Events []string
	// Guards are the conditions of the filters, the job and the step in our rule language.
	Guards []string
	// Repo is a repository in which the conditions can be true; empty: any repository.
	Repo string
	// Never is set if the conditions exclude all events.
	Never bool
	// Incomplete means that a filter or a part of a condition is not in Guards.
	Incomplete bool
	Problems   []Problem
	// Parts are parts of conditions that are not in Guards.
	Parts []Part
}

// A Part is a part of the text of a node that no rule can express.
type Part struct {
	Node *yaml.Node
	condition.Problem
}

// Trigger returns when the step runs. It keeps only the events whose names are in names, where
// "pull_request" stands for "pull_request_target" as well.
func (u Use) Trigger(names []string) Trigger {
	var t Trigger
	on := yamlfile.Child(u.Root, "on")
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		for key, settings := range yamlfile.Pairs(on) {
			t.add(key, settings, names)
		}
		for key, settings := range yamlfile.Pairs(on) {
			t.filters(key.Value, settings)
		}
	case on.Kind == yaml.SequenceNode:
		for _, item := range on.Content {
			t.add(item, nil, names)
		}
	default:
		t.add(on, nil, names)
	}
	t.when(u)
	return t
}

// Scheduled returns when the step runs, if its workflow is started by a schedule.
func (u Use) Scheduled() Trigger {
	t := Trigger{Events: []string{"schedule"}}
	t.when(u)
	return t
}

// On returns the events in the terms of a rule, such as "pull_request.opened".
func (t Trigger) On() []string {
	var out []string
	for _, e := range t.Events {
		if e = strings.Replace(e, "_target.", ".", 1); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// activities returns the activities of an event that both a workflow and a rule can name.
func activities(event string) []string {
	both := []string{"opened", "edited", "closed", "reopened", "assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked", "milestoned", "demilestoned"}
	switch event {
	case "issues":
		return append(both, "deleted", "transferred", "pinned", "unpinned", "typed", "untyped")
	case "pull_request", "pull_request_target":
		return append(both, "synchronize", "converted_to_draft", "ready_for_review", "review_requested", "review_request_removed",
			"enqueued", "dequeued", "auto_merge_enabled", "auto_merge_disabled")
	case "issue_comment":
		return []string{"created", "edited", "deleted"}
	}
	return nil
}

// isPull reports whether an event is one of a pull request.
func isPull(event string) bool {
	name, _, _ := strings.Cut(event, ".")
	return strings.TrimSuffix(name, "_target") == "pull_request"
}

// add adds an event with its settings.
func (t *Trigger) add(key, settings *yaml.Node, names []string) {
	event := key.Value
	switch {
	case activities(event) == nil && !slices.Contains([]string{"workflow_dispatch", "workflow_call", "schedule"}, event):
		t.lose(key, "no rule can listen to the event "+strconv.Quote(event))
	case activities(event) != nil:
		for _, e := range t.activitiesOf(event, yamlfile.Child(settings, "types")) {
			if slices.Contains(names, strings.TrimSuffix(event, "_target")) && !slices.Contains(t.Events, e) {
				t.Events = append(t.Events, e)
			}
		}
	}
}

func (t *Trigger) lose(n *yaml.Node, msg string) { t.Problems = append(t.Problems, Problem{n, msg}) }

// activitiesOf returns the events for the types of an event. Without types these are GitHub's
// default.
func (t *Trigger) activitiesOf(event string, types *yaml.Node) []string {
	switch {
	case yamlfile.IsNull(types) && isPull(event):
		return []string{event + ".opened", event + ".synchronize", event + ".reopened"}
	case yamlfile.IsNull(types):
		return []string{event + ".*"}
	}
	var out []string
	for _, item := range yamlfile.Items(types) {
		if !slices.Contains(activities(event), item.Value) {
			t.lose(item, "no rule can listen to "+strconv.Quote(strings.TrimSuffix(event, "_target")+"."+item.Value))
			continue
		}
		out = append(out, event+"."+item.Value)
	}
	return out
}

// filters adds conditions for the branch and path filters of a pull request event.
func (t *Trigger) filters(event string, settings *yaml.Node) {
	for _, key := range []string{"branches", "branches-ignore", "paths", "paths-ignore"} {
		n := yamlfile.Child(settings, key)
		if yamlfile.IsNull(n) || !isPull(event) {
			continue
		}
		var when string
		var ok bool
		if strings.HasPrefix(key, "branches") {
			when, ok = branches(yamlfile.Items(n))
		} else {
			when, ok = paths(yamlfile.Items(n), strings.HasSuffix(key, "ignore"))
		}
		// A condition would also apply to the other events of the rule, which have no such filter.
		others := slices.ContainsFunc(t.Events, func(e string) bool { return !strings.HasPrefix(e, event+".") })
		if !ok || len(t.Events) == 0 || others {
			t.lose(n, key+": this filter was not imported")
			t.Incomplete = true
			continue
		}
		if strings.HasSuffix(key, "ignore") {
			when = "not (" + when + ")"
		} else if strings.Contains(when, " or ") {
			when = "(" + when + ")"
		}
		t.Guards = append(t.Guards, when)
	}
}

// plainBranch matches a branch filter without a pattern.
var plainBranch = text.Regexp(`^[^*?+\[\]!]+$`)

// branches returns the condition that the base branch matches one of the filters. ok is false for
// patterns other than * and **.
func branches(nodes []*yaml.Node) (when string, ok bool) {
	var names, patterns, terms []string
	for _, n := range nodes {
		switch {
		case n.Kind != yaml.ScalarNode || strings.ContainsAny(n.Value, "?+[]!`") || n.Value == "":
			return "", false
		case plainBranch().MatchString(n.Value):
			names = append(names, strconv.Quote(n.Value))
		default:
			pattern := strings.ReplaceAll(regexp.QuoteMeta(n.Value), `\*\*`, ".*")
			patterns = append(patterns, strings.ReplaceAll(pattern, `\*`, "[^/]*"))
		}
	}
	switch len(names) {
	case 0:
	case 1:
		terms = append(terms, "pr.base == "+names[0])
	default:
		terms = append(terms, "pr.base in ["+strings.Join(names, ", ")+"]")
	}
	if len(patterns) > 0 {
		terms = append(terms, "pr.base matches `^(?:"+strings.Join(patterns, "|")+")$`")
	}
	return strings.Join(terms, " or "), len(terms) > 0
}

// paths returns the condition that one changed file, or every one, matches the paths. ok is false
// for patterns that our globs cannot express.
func paths(list []*yaml.Node, every bool) (when string, ok bool) {
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
				return "", false
			}
		}
		globs = append(globs, strconv.Quote(glob))
	}
	return function + "(" + strings.Join(globs, ", ") + ")", len(globs) > 0
}

// when adds the conditions of the step's job and of the step.
func (t *Trigger) when(u Use) {
	for _, n := range []*yaml.Node{yamlfile.Child(u.Job, "if"), yamlfile.Child(u.Step, "if")} {
		if yamlfile.IsNull(n) || n.Kind != yaml.ScalarNode {
			continue
		}
		c := condition.Translate(n.Value, t.each(n.Value))
		if c.Never && !t.Never {
			t.lose(n, "if: the condition is false for every supported event, so no rules were imported")
		}
		t.Never = t.Never || c.Never
		t.Guards, t.Repo = append(t.Guards, c.Terms...), cmp.Or(t.Repo, c.Repo)
		if len(c.Events) < len(t.each(n.Value)) {
			t.Events = c.Events
		}
		for _, p := range c.Lost {
			p.Msg = "if: " + p.Msg + "; this part was not imported"
			t.Parts, t.Incomplete = append(t.Parts, Part{n, p}), true
		}
	}
}

// each returns the events for a condition. If it is about the activity, an event such as "issues.*"
// is replaced by its activities.
func (t *Trigger) each(condition string) []string {
	if !strings.Contains(strings.ToLower(condition), "action") {
		return t.Events
	}
	var out []string
	for _, e := range t.Events {
		event, all := strings.CutSuffix(e, ".*")
		if !all {
			out = append(out, e)
			continue
		}
		for _, activity := range activities(event) {
			out = append(out, event+"."+activity)
		}
	}
	return out
}

// Crons returns the times of the event schedule of a workflow.
func Crons(root *yaml.Node) []string {
	var times []string
	if schedule := yamlfile.Child(root, "on", "schedule"); schedule != nil {
		for _, item := range schedule.Content {
			if c := yamlfile.Child(item, "cron"); c != nil && len(c.Value) < 100 {
				times = append(times, c.Value)
			}
		}
	}
	return times
}
