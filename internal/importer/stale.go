package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/staleversions"
	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/yamlfile"
)

// readStale reads a workflow that uses actions/stale, or a mapping of its inputs.
func readStale(doc document, _ step) reading {
	root := doc.root
	if root.Kind != yaml.MappingNode {
		return mistaken(wrong(root, "want a workflow that uses actions/stale, or a mapping of its inputs; got %s", yamlfile.Kind(root)))
	}
	steps := workflow.Uses(root, "actions/stale")
	if with := yamlfile.Child(root, "with"); len(steps) == 0 && with != nil {
		root = with
	}
	var parts []part
	shadow := false
	var found, hints findings
	seen := map[string]bool{}
	add := func(s step) {
		hints = append(hints, activityHint(s.version))
		one, dry := staleStep(s, len(parts) > 0)
		// Two steps, one for issues and one for pull requests, may result in the same rule.
		one.rules = slices.DeleteFunc(one.rules, func(r rule) bool {
			known := seen[r.behaviour()]
			seen[r.behaviour()] = true
			return known
		})
		// Mistakes are moved to the reading, so that they are reported even if the rules become too
		// large.
		one.found = slices.DeleteFunc(one.found, func(f finding) bool {
			if f.kind == mistake {
				found = append(found, f)
			}
			return f.kind == mistake
		})
		parts, shadow = append(parts, one), shadow || dry
	}
	switch {
	case len(steps) > 0:
	case yamlfile.Child(root, "jobs") != nil || yamlfile.Child(root, "runs") != nil:
		return mistaken(wrong(root, "no step of this workflow uses actions/stale"))
	case !slices.ContainsFunc(pairsOf(root), func(p pair) bool { return slices.Contains(staleversions.Inputs(), p.key.Value) }):
		return mistaken(wrong(root, "this is neither a workflow that uses actions/stale nor a mapping of its inputs"))
	default:
		add(step{use: workflow.Use{Root: root, Step: root}, with: root})
	}
	if len(steps) > maxSteps {
		return mistaken(wrong(steps[maxSteps].Step, "more than %d steps use actions/stale", maxSteps))
	}
	for _, u := range steps {
		s := step{use: u, with: yamlfile.Child(u.Step, "with"), names: []string{"schedule"}}
		if !yamlfile.IsNull(s.with) && s.with.Kind != yaml.MappingNode {
			found = append(found, wrong(s.with, "with: want a mapping of inputs, got %s", yamlfile.Kind(s.with)))
			continue
		}
		found = append(found, s.versioned(u)...)
		add(s)
	}
	return reading{before: found, parts: slices.Values(parts), after: append(findings{scheduleHint(doc.root)}, hints...), shadow: shadow}
}

// mistaken returns the reading of a file that is not a configuration of the tool.
func mistaken(f finding) reading {
	return reading{before: findings{f}, parts: slices.Values[[]part](nil)}
}

// maxSteps is the maximal number of steps of one workflow that use actions/stale.
const maxSteps = 50

// scheduleHint returns the events that the workflow needs.
func scheduleHint(root *yaml.Node) finding {
	when, times := "", []string{}
	for _, c := range workflow.Crons(root) {
		times = append(times, strconv.Quote(c))
	}
	if len(times) > 0 {
		when = " (cron " + strings.Join(times, ", ") + ")"
	}
	return general("The workflow that runs Foreman needs the event schedule" + when + " and the events that the rules name.")
}

// activityHint returns the changes that count as activity in a version.
func activityHint(v workflow.Version) finding {
	switch {
	case !staleversions.Unmarks(v):
		return general("Any change of issue.updated_at delays marking and closing, and no change removes the label, as in actions/stale before version 3.")
	case staleversions.OnlyComments(v):
		return general("Any change of issue.updated_at delays marking and closing, but only a comment makes an issue active again, as in actions/stale before version 5.1.")
	}
	return general("Any change of issue.updated_at counts as activity, as in actions/stale. Use idle() to count only people's activity.")
}

// staleStep returns the rules of one step. dry reports whether the step has debug-only, and writes
// nothing. later means that other steps precede this one.
func staleStep(s step, later bool) (out part, dry bool) {
	in := &inputs{source: s, wrong: map[*yaml.Node]bool{}, has: staleversions.InputsOf(s.version)}
	if s.with != nil {
		in.checkKeys()
	}
	if why := staleversions.Fault(s.version); why != "" {
		in.stop = true
		in.add(lost(s.use.Step, "version %s of actions/stale %s; no rules were imported. A newer version in the workflow can be imported", s.version, why))
	}
	if later {
		in.add(lost(s.use.Step, "in actions/stale an action of an earlier step in the same run counts as an update for this step; in Foreman it does not"))
	}
	if dry = in.on("debug-only"); dry {
		in.add(general("debug-only became mode: shadow. Foreman decides and reports, but writes nothing."))
	}
	issues, prs := staleRules(in, "issue"), staleRules(in, "pr")
	out = part{name: "actions/stale", from: s.use.Step.Line, to: s.use.Step.Line}
	for i, r := range issues {
		out.interval = out.interval || r.soon || prs[i].soon
		// A rule that is the same for issues and pull requests is written once.
		if r.same(prs[i]) {
			out.rules = append(out.rules, r.both(prs[i]).final("")...)
			continue
		}
		out.rules = append(out.rules, r.final("-issues")...)
		out.rules = append(out.rules, prs[i].final("-prs")...)
	}
	if out.found = in.findings; in.stop {
		out.rules = nil
	}
	return out, dry
}

// A lasting is a rule of a stale step before it gets its id.
type lasting struct {
	rule

	comment string // posted before the other actions; empty: none
	once    bool   // the comment is posted only once for an issue
	kind    term   // condition that separates issues from pull requests for events that both share
	soon    bool   // its comment needs no minimal time after that of another rule
}

func (r lasting) same(o lasting) bool {
	return fmt.Sprint(r.then, r.when, r.comment, r.once) == fmt.Sprint(o.then, o.when, o.comment, o.once)
}

// both returns one rule for issues and pull requests.
func (r lasting) both(o lasting) lasting {
	for _, e := range o.on {
		if !slices.Contains(r.on, e) {
			r.on = append(r.on, e)
		}
	}
	r.scans = slices.Concat(r.scans, o.scans)
	r.kind = term{}
	return r
}

// final returns the rule with a suffix to its name. It returns no rule if the rule does nothing.
func (r lasting) final(suffix string) []rule {
	if len(r.then) == 0 {
		return nil
	}
	r.name += suffix
	r.when = all(r.kind, r.when)
	switch {
	case r.comment == "":
	case r.once:
		r.then = append([]act{comment(r.comment)}, r.then...)
	default:
		r.then = append([]act{do("comment", r.comment)}, r.then...)
	}
	return []rule{r.rule}
}
