package lint

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
)

// actionsRead is the permission that a run needs to find the memory of earlier runs.
const actionsRead = "actions: read"

// checkRuns warns if the workflows that run the rules do not provide what the rules need: events,
// the permission to close, and the permission to read the memory. If no workflow reads these files,
// it only checks the configured memory.
func checkRuns(c *checker, files []*yamlfile.File) {
	runs := c.repo.RunsOf(c.config.Files)
	c.steps(runs)
	c.answers(runs, files)
	c.judges(runs, files)
	infos := map[string]rules.Info{}
	for _, i := range rules.Infos(c.config.Rules) {
		infos[i.ID] = i
	}
	for _, f := range files {
		list := yamlfile.Child(f.Root(), "rules")
		if list == nil {
			continue
		}
		for _, n := range list.Content {
			if info, known := infos[scalar(yamlfile.Child(n, "id"))]; known {
				ruleRuns{c, f, n, info, runs}.check()
			}
		}
	}
}

// A ruleRuns is a rule in its file, and the steps that may run it.
type ruleRuns struct {
	*checker

	f    *yamlfile.File
	node *yaml.Node
	info rules.Info
	runs []Run
}

func (r ruleRuns) check() {
	for name, params := range r.actions() {
		if once := yamlfile.Child(params, "once"); once != nil && name.Value == protocol.ActionComment {
			r.once(once)
		}
	}
	r.texts()
	r.together()
	r.scan()
	r.policy()
	for name := range r.actions() {
		if spec, _ := protocol.SpecOf(name.Value); spec.Closes() {
			r.closing(name)
		}
	}
	if len(r.runs) == 0 {
		return
	}
	r.events()
	r.forks()
	for name, params := range r.actions() {
		if after := yamlfile.Child(params, "after"); after != nil && name.Value == protocol.ActionCloseIssue {
			r.later(after)
		}
	}
	if undo := yamlfile.Child(r.node, "else_undo"); scalar(undo) == "true" && !r.onlyPulls() {
		r.recalls(undo, "else_undo needs the memory", r.startedRuns())
	}
}

// actions returns the name and the parameters of each action of the rule.
func (r ruleRuns) actions() iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, params *yaml.Node) bool) {
		for _, item := range children(yamlfile.Child(r.node, "then")) {
			name, params := item, (*yaml.Node)(nil)
			if item.Kind == yaml.MappingNode && len(item.Content) > 1 {
				name, params = item.Content[0], item.Content[1]
			}
			if !yield(name, params) {
				return
			}
		}
	}
}

func children(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}

func (r ruleRuns) warnAt(n *yaml.Node, format string, args ...any) {
	r.warn(r.f.At(n, 1, 1, ""), format, args...)
}

// events warns of the events in "on" that start no workflow. A rule without "on" listens to several
// default events; one of them is enough.
func (r ruleRuns) events() {
	on := yamlfile.Child(r.node, "on")
	if on == nil {
		if len(r.startedRuns()) == 0 {
			r.warnAt(yamlfile.Child(r.node, "id"), "no workflow runs this rule: no workflow that runs Foreman starts on %s; %s", strings.Join(r.info.On, ", "), r.add(r.info.On[0]))
		}
		return
	}
	items := on.Content
	if on.Kind == yaml.ScalarNode {
		items = []*yaml.Node{on}
	}
	items = slices.DeleteFunc(slices.Clone(items), func(item *yaml.Node) bool {
		return slices.ContainsFunc(r.runs, func(run Run) bool { return run.startedBy(item.Value) })
	})
	if len(items) == 0 {
		return
	}
	var names, shown []string
	for _, item := range items {
		if !slices.Contains(names, item.Value) {
			names, shown = append(names, item.Value), append(shown, cut(item.Value))
		}
	}
	verb := "starts"
	if len(names) > 1 {
		verb = "start"
	}
	r.warnAt(items[0], "%s %s no workflow that runs Foreman; %s", strings.Join(shown, ", "), verb, r.add(names...))
}

// forks warns of steps whose token cannot write on the pull requests of forks.
func (r ruleRuns) forks() {
	for _, run := range r.runs {
		if r.writes() && slices.ContainsFunc(r.info.On, run.readOnly) {
			r.warn(run.place, "the job %s runs rules that write on pull_request, where the token cannot write if the pull request comes from a fork; start it on pull_request_target instead, without a checkout of the pull request", cut(run.Job))
		}
	}
}

// writes reports whether the rule may write. In shadow mode it only reports, and escalate and retriage
// alone write nothing.
func (r ruleRuns) writes() bool {
	return r.config.Mode != config.ModeShadow && slices.ContainsFunc(r.info.Actions, func(name string) bool {
		_, known := protocol.SpecOf(name)
		return known
	})
}

// together suggests "together" for a rule whose comment may announce a change that is not made. A
// scheduled close is left out, because it would always prevent the comment.
func (r ruleRuns) together() {
	if yamlfile.Child(r.node, "together") != nil || !r.writes() {
		return
	}
	var comment, change *yaml.Node
	for name, params := range r.actions() {
		switch name.Value {
		case protocol.ActionComment, protocol.ActionUpdateComment:
			comment = name
		case protocol.ActionCloseIssue, protocol.ActionMarkDuplicate, protocol.ActionLock, protocol.ActionAssign:
			if yamlfile.Child(params, "after") != nil {
				return
			}
			change = name
		}
	}
	if comment != nil && change != nil {
		r.warnAt(comment, "the comment is posted even if %s is skipped; with together: true the rule does both or neither (together: false hides this warning)", change.Value)
	}
}

// scan warns of a search that the other events of the rule do not have, if they have no condition.
func (r ruleRuns) scan() {
	scan := yamlfile.Child(r.node, "scan")
	if scan == nil || yamlfile.Child(r.node, "when") != nil {
		return
	}
	if others := slices.DeleteFunc(slices.Clone(r.info.On), func(on string) bool { return on == "schedule" }); len(others) > 0 {
		r.warnAt(scan, "scan limits scheduled runs alone, so on %s the rule acts on every issue; add a condition with when, or a rule of its own for schedule", strings.Join(others, ", "))
	}
}

// add returns advice on where to add events.
func (r ruleRuns) add(names ...string) string {
	var places []trigger
	types := map[trigger][]string{}
	for _, on := range names {
		event, activity, _ := strings.Cut(on, ".")
		place := r.triggerOf(event, activity)
		if types[place] == nil {
			places = append(places, place)
		}
		types[place] = append(types[place], activity)
	}
	var list, added []string
	for i, place := range places {
		what, where := place.advice(types[place])
		added = append(added, what)
		if i+1 < len(places) {
			if _, next := places[i+1].advice(nil); next == where {
				continue
			}
		}
		list, added = append(list, "add "+strings.Join(added, " and ")+where), nil
	}
	return strings.Join(list, "; ")
}

// A trigger is a place in a workflow to which activities of an event are added.
type trigger struct {
	event, file string
	form        triggerForm
}

type triggerForm int

const (
	newTypes  triggerForm = iota // on does not have the event
	newEvent                     // as newTypes, and any activity is enough
	moreTypes                    // on lists activities of the event
	noTypes                      // on has the event with GitHub's default activities
)

// triggerOf returns the place for an event and its activity in the workflows that run the rules.
func (r ruleRuns) triggerOf(event, activity string) trigger {
	names := []string{event}
	if event == "pull_request" {
		names = []string{"pull_request_target", event}
	}
	for _, run := range r.runs {
		for _, name := range names {
			if types, listed := run.events[name]; listed && activity != "*" {
				if types == nil {
					return trigger{name, run.File, noTypes}
				}
				return trigger{name, run.File, moreTypes}
			}
		}
	}
	if activity == "" || activity == "*" {
		return trigger{names[0], r.files(), newEvent}
	}
	return trigger{names[0], r.files(), newTypes}
}

// advice says what to add for the activities, and where.
func (t trigger) advice(activities []string) (what, where string) {
	list, types, on := strings.Join(activities, ", "), "type", " to on in "+t.file
	if len(activities) > 1 {
		types = "types"
	}
	switch {
	case t.form == noTypes:
		return list, " to the types of " + t.event + " in " + t.file + ", together with GitHub's default types"
	case t.form == moreTypes:
		return list, " to the types of " + t.event + " in " + t.file
	case t.event == "schedule":
		return "schedule with a cron", on
	case t.form == newEvent:
		return t.event, on
	}
	return t.event + " with the " + types + " " + list, on
}

// files returns the names of the workflows that run the rules.
func (r ruleRuns) files() string {
	var list []string
	for _, run := range r.runs {
		if !slices.Contains(list, run.File) {
			list = append(list, run.File)
		}
	}
	if more := len(list) - 3; more > 0 {
		list = append(list[:3], fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, " or ")
}

// startedRuns returns the steps that the rule's events start.
func (r ruleRuns) startedRuns() []Run {
	return slices.DeleteFunc(slices.Clone(r.runs), func(run Run) bool { return !slices.ContainsFunc(r.info.On, run.startedBy) })
}

// onlyPulls reports whether the rule listens to pull requests only. Such a rule finds its earlier
// actions in the timeline. It cannot find them in artifacts, because these belong to the branch of
// each pull request.
func (r ruleRuns) onlyPulls() bool {
	return !slices.ContainsFunc(r.info.On, func(on string) bool { return !strings.HasPrefix(on, "pull_request.") })
}

// closing warns of an action that closes issues although closing is not allowed. An input of a
// workflow that is not known may allow it, unless the configuration says the opposite.
func (r ruleRuns) closing(n *yaml.Node) {
	switch {
	case r.config.Policy.AllowClose:
	case r.config.NeverClose:
		r.warnAt(n, "%s is always skipped: policy.allow_close of the file that is extended is false", n.Value)
	case len(r.runs) == 0 && r.keepsOpen:
		r.warnAt(n, "%s is always skipped: policy.allow_close is false; the input allow-close of a workflow may allow it, too", n.Value)
	case len(r.runs) > 0 && !slices.ContainsFunc(r.runs, Run.closes):
		r.warnAt(n, "%s is always skipped: neither policy.allow_close nor the input allow-close of %s is true", n.Value, r.files())
	}
}

// texts warns of expressions of GitHub Actions in the texts of actions: the dollar stays.
func (r ruleRuns) texts() {
	for _, params := range r.actions() {
		for _, n := range append(children(params), params) {
			if n == nil || n.Kind != yaml.ScalarNode {
				continue
			}
			if i := strings.Index(n.Value, "${{"); i >= 0 {
				line, col := text.Position(n.Value, i)
				r.warn(r.f.At(n, line, col, ""), "the $ of ${{ is a part of the text; write {{ }} for a value")
			}
		}
	}
}

// later warns of a scheduled close that no run would carry out.
func (r ruleRuns) later(after *yaml.Node) {
	due := func(run Run) bool { return run.startedBy("schedule") }
	if !slices.ContainsFunc(r.runs, due) {
		r.warnAt(after, "a scheduled run has to close it, but schedule starts no workflow that runs Foreman; %s", r.add("schedule"))
	}
	r.recalls(after, "a scheduled run finds due actions in the memory", append(r.startedRuns(), slices.DeleteFunc(slices.Clone(r.runs), func(run Run) bool { return !due(run) })...))
}

// once warns of runs without a record of a comment with "once". There a deleted comment is posted
// again. A run on a pull request writes no artifact that later runs trust.
func (r ruleRuns) once(n *yaml.Node) {
	if len(r.runs) == 0 && r.config.Memory.Store == "off" {
		r.warnAt(n, "memory.store is off, so a comment that a person deleted is posted again")
	}
	for _, run := range r.startedRuns() {
		pulls := r.info.Pulls && slices.ContainsFunc(r.info.On, func(on string) bool { return !strings.HasPrefix(on, "issues.") && run.startedBy(on) })
		switch store := run.store(r.config.Memory.Store); {
		case store == "off":
			r.warnAt(n, "the memory of the job %s of %s is off, so a comment that a person deleted is posted again", cut(run.Job), run.File)
		case store == "artifact" && pulls:
			r.warnAt(n, "the memory artifact has no record of a pull request, so a comment that a person deleted there is posted again; the memory file in the job %s of %s has one", cut(run.Job), run.File)
		}
	}
}

// recalls warns of steps that keep the memory in artifacts but cannot read artifacts.
func (r ruleRuns) recalls(n *yaml.Node, what string, runs []Run) {
	for _, run := range runs {
		if run.store(r.config.Memory.Store) == "artifact" && run.lacks(actionsRead) {
			r.warnAt(n, "%s, and the job %s of %s cannot read it: add %q to its permissions", what, cut(run.Job), run.File, actionsRead)
		}
	}
}
