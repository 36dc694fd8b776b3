package lint

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Run is a workflow step that runs Foreman, with the triggers of the workflow.
type Run struct {
	File string // the file of the workflow
	Job  string

	place  yamlfile.Problem            // the step
	inputs map[string]string           // by name
	given  map[string]yamlfile.Problem // the places of the inputs, by their names as written
	// events maps the events that start the workflow to their listed activities; nil means the
	// default activities.
	events map[string][]string
	// called is true if other workflows call this one. Then any event may start it.
	called bool
	// grants maps the job's permissions to their levels; "*" stands for all permissions. Nil: the
	// workflow lists none, and the repository's settings decide.
	grants map[string]string
	// selects is true if a condition of the job or the step may leave out some events, such as those of
	// forks, or all on pull requests.
	selects bool
}

// ownAction is the end of the name of the repository in the "uses" of every step that runs Foreman.
const ownAction = "/foreman-action"

// own reports whether a step uses Foreman: the container or the slim entry, at any version.
func own(uses string) bool {
	name, _, versioned := strings.Cut(uses, "@")
	return versioned && strings.HasSuffix(strings.TrimSuffix(name, "/slim"), ownAction)
}

// ParseRuns returns the steps of a workflow that run Foreman. The error is that of [ParseWorkflow].
func ParseRuns(name string, src []byte) ([]Run, error) {
	if !bytes.Contains(src, []byte(ownAction)) {
		return nil, nil
	}
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return nil, err
	}
	events := triggers(yamlfile.Child(f.Root(), "on"))
	_, called := events["workflow_call"]
	var list []Run
	for id, job := range yamlfile.Pairs(yamlfile.Child(f.Root(), "jobs")) {
		permissions := yamlfile.Child(job, "permissions")
		if permissions == nil {
			permissions = yamlfile.Child(f.Root(), "permissions")
		}
		steps := yamlfile.Child(job, "steps")
		if steps == nil {
			continue
		}
		for _, step := range steps.Content {
			uses := yamlfile.Child(step, "uses")
			if !own(scalar(uses)) {
				continue
			}
			r := Run{
				File: name, Job: id.Value, place: f.At(uses, 1, 1, ""), inputs: map[string]string{}, given: map[string]yamlfile.Problem{}, events: events, called: called,
				grants: grantsOf(permissions), selects: selects(job) || selects(step),
			}
			for key, value := range yamlfile.Pairs(yamlfile.Child(step, "with")) {
				r.inputs[strings.ToLower(key.Value)] = strings.TrimSpace(value.Value)
				r.given[key.Value] = f.At(key, 1, 1, "")
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// triggers reads "on": a name, a list of names, or a mapping.
func triggers(on *yaml.Node) map[string][]string {
	events := map[string][]string{}
	if on == nil {
		return events
	}
	if on.Kind != yaml.MappingNode {
		for _, name := range texts(on) {
			events[name] = nil
		}
		return events
	}
	for name, settings := range yamlfile.Pairs(on) {
		events[name.Value] = texts(yamlfile.Child(settings, "types"))
	}
	return events
}

// texts reads a string, or a list of strings.
func texts(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return []string{scalar(n)}
	}
	list := []string{}
	for _, item := range n.Content {
		list = append(list, scalar(item))
	}
	return list
}

// grantsOf reads a permissions block; nil if there is none.
func grantsOf(n *yaml.Node) map[string]string {
	if n == nil {
		return nil
	}
	grants := map[string]string{}
	if level, all := strings.CutSuffix(scalar(n), "-all"); all {
		grants["*"] = level
	}
	for name, level := range yamlfile.Pairs(n) {
		grants[name.Value] = scalar(level)
	}
	return grants
}

// selects reports whether the condition of a job or a step tests where a pull request comes from, the
// name of the event, or whether the comment is on a pull request.
func selects(n *yaml.Node) bool {
	condition := scalar(yamlfile.Child(n, "if"))
	return slices.ContainsFunc([]string{"head.repo", "event_name", "issue.pull_request"}, func(part string) bool {
		return strings.Contains(condition, part)
	})
}

// open reports whether the value of an input is known only when the workflow runs.
func open(value string) bool { return strings.Contains(value, "${{") }

// reads reports whether the step reads a file of the configuration.
func (r Run) reads(name string) bool {
	is := func(pattern string) bool {
		pattern = path.Clean(pattern)
		for rest := path.Clean(strings.ReplaceAll(name, `\`, "/")); ; {
			if ok, err := path.Match(pattern, rest); ok && err == nil {
				return true
			}
			var more bool
			if _, rest, more = strings.Cut(rest, "/"); !more {
				return false
			}
		}
	}
	given := path.Clean(cmp.Or(r.inputs["config"], config.DefaultPath))
	if is(given) || given == config.DefaultPath && is(config.OtherPath) {
		return true
	}
	return slices.ContainsFunc(strings.Split(r.inputs["rules"], "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && is(line)
	})
}

// startedBy reports whether an event starts the workflow. on is its name in "on" of a rule.
func (r Run) startedBy(on string) bool {
	if r.called {
		return true
	}
	event, activity, _ := strings.Cut(on, ".")
	names := []string{event}
	if event == "pull_request" {
		names = append(names, "pull_request_target")
	}
	return slices.ContainsFunc(names, func(name string) bool { return r.listens(name, activity) })
}

// listens reports whether an activity of an event starts the workflow; "" and "*" stand for any
// activity. name is the event's name in the workflow.
func (r Run) listens(name, activity string) bool {
	types, listed := r.events[name]
	if types == nil && strings.HasPrefix(name, "pull_request") {
		types = []string{"opened", "synchronize", "reopened"}
	}
	return listed && (activity == "" || activity == "*" || types == nil || slices.Contains(types, activity))
}

// readOnly reports whether an event in "on" of a rule starts the workflow on pull requests of forks
// with a token that cannot write.
func (r Run) readOnly(on string) bool {
	event, activity, _ := strings.Cut(on, ".")
	return event == "pull_request" && !r.selects && !r.dry() && r.listens(event, activity)
}

// dry reports whether the step may write nothing.
func (r Run) dry() bool {
	dry := r.inputs["dry-run"]
	return strings.EqualFold(dry, "true") || open(dry)
}

// closes reports whether the step's input may allow closing.
func (r Run) closes() bool {
	value := r.inputs["allow-close"]
	return strings.EqualFold(value, "true") || open(value)
}

// store returns the store of the step's memory. configured is the store in the configuration, or
// empty. The result is empty if it is known only when the workflow runs.
func (r Run) store(configured string) string {
	input := r.inputs["memory"]
	switch {
	case open(input):
		return ""
	case input != "" && input != "artifact":
		return input
	case configured != "":
		return configured
	}
	return "artifact"
}

// lacks reports whether the step's token certainly lacks a permission.
func (r Run) lacks(permission string) bool {
	token := strings.Join(strings.Fields(r.inputs["token"]), "")
	own := token == "" || strings.EqualFold(token, "${{github.token}}") || strings.EqualFold(token, "${{secrets.GITHUB_TOKEN}}")
	if !own || r.called || r.grants == nil {
		return false
	}
	name, level, _ := strings.Cut(permission, ": ")
	for _, has := range []string{r.grants[name], r.grants["*"]} {
		if has == level || has == "write" {
			return false
		}
	}
	return true
}
