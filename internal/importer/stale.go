package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// stale reads a workflow that uses actions/stale, or a mapping of its inputs.
func (d *draft) stale() {
	root := d.file.Root()
	if root.Kind != yaml.MappingNode {
		d.file.Problemf(root, "want a workflow that uses actions/stale, or a mapping of its inputs; got %s", strictyaml.Kind(root))
		return
	}
	steps := uses(root, "actions/stale")
	if with := strictyaml.Child(root, "with"); len(steps) == 0 && with != nil {
		root = with
	}
	switch {
	case len(steps) > 0:
	case strictyaml.Child(root, "jobs") != nil || strictyaml.Child(root, "runs") != nil:
		d.file.Problemf(root, "no step of this workflow uses actions/stale")
		return
	case !slices.ContainsFunc(pairsOf(root), func(p pair) bool { return slices.Contains(staleInputs(), p.key.Value) }):
		d.file.Problemf(root, "this is neither a workflow that uses actions/stale nor a mapping of its inputs")
		return
	default:
		d.staleStep(root, root)
	}
	if len(steps) > maxSteps {
		d.file.Problemf(steps[maxSteps], "more than %d steps use actions/stale", maxSteps)
		return
	}
	for _, s := range steps {
		with := strictyaml.Child(s, "with")
		if !isNull(with) && with.Kind != yaml.MappingNode {
			d.file.Problemf(with, "with: want a mapping of inputs, got %s", strictyaml.Kind(with))
			continue
		}
		d.staleStep(s, with)
	}
	d.staleHints()
}

// maxSteps is how many steps of one workflow may use actions/stale.
const maxSteps = 50

// cron finds the times of a workflow.
func (d *draft) cron() string {
	var times []string
	schedule := strictyaml.Child(d.file.Root(), "on", "schedule")
	if schedule != nil {
		for _, item := range schedule.Content {
			if c := strictyaml.Child(item, "cron"); c != nil && len(c.Value) < 100 {
				times = append(times, quoted(c.Value))
			}
		}
	}
	return strings.Join(times, ", ")
}

func (d *draft) staleHints() {
	when := ""
	if times := d.cron(); times != "" {
		when = " (cron " + times + ")"
	}
	d.hint("The workflow that runs Foreman needs the events schedule" + when + " and those that the rules name.")
	d.hint("idle() is the time since a person did something; actions/stale counts programs as well.")
	d.hint("A comment is posted once for an issue, also when it goes stale again.")
}

// An inputs reads the inputs of one step.
type inputs struct {
	*draft

	source step
	wrong  map[*yaml.Node]bool // what was reported, as both kinds ask
}

// problem records a mistake once.
func (in inputs) problem(n *yaml.Node, format string, args ...any) {
	if !in.wrong[n] {
		in.wrong[n] = true
		in.file.Problemf(n, format, args...)
	}
}

// get returns an input, or else the more general one; empty ones count as not given.
func (in inputs) get(names ...string) (string, *yaml.Node) {
	for _, name := range names {
		if text, n := in.input(in.source, name); text != "" {
			return text, n
		}
	}
	return "", nil
}

// words returns the words of a list with commas.
func (in inputs) words(names ...string) []string {
	text, _ := in.get(names...)
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// on reports whether an input says true.
func (in inputs) on(names ...string) bool {
	for _, name := range names {
		switch text, n := in.get(name); text {
		case "true", "false":
			return text == "true"
		case "":
		default:
			in.problem(n, "%s: want true or false, got %s", name, quoted(text))
		}
	}
	return false
}

// staleStep adds the rules of one step.
func (d *draft) staleStep(at, with *yaml.Node) {
	in := inputs{d, step{file: d.file, with: with}, map[*yaml.Node]bool{}}
	d.begin("actions/stale", nil, nil)
	d.now.from, d.now.to = at.Line, at.Line
	if with != nil {
		in.report(with)
	}
	if in.on("debug-only") {
		d.mode = "shadow"
		d.hint("debug-only became mode: shadow: decisions are made and reported, nothing is written.")
	}
	issues, prs := in.rules("issue"), in.rules("pr")
	for i, r := range issues {
		// The same rule for both needs to stand there only once.
		if r.same(prs[i]) {
			d.add(r.both(prs[i]), "")
			continue
		}
		d.add(r, "-issues")
		d.add(prs[i], "-prs")
	}
}

// A lasting is a rule of a stale step before it has its id.
type lasting struct {
	rule

	comment string // posted before the actions; empty: none
	kind    term   // that tells issues from pull requests, where the events do not
}

func (r lasting) same(o lasting) bool {
	return fmt.Sprint(r.then, r.when, r.comment) == fmt.Sprint(o.then, o.when, o.comment)
}

// both returns the rule for issues and pull requests.
func (r lasting) both(o lasting) lasting {
	for _, e := range o.on {
		if !slices.Contains(r.on, e) {
			r.on = append(r.on, e)
		}
	}
	r.scan = strings.Replace(r.scan, "is:open is:issue", "is:open", 1)
	r.kind = term{}
	return r
}

// add gives a rule its id and adds it, unless it does nothing.
func (d *draft) add(r lasting, suffix string) {
	if len(r.then) == 0 {
		return
	}
	r.id = d.id(r.id + suffix)
	r.when = all(r.kind, r.when)
	if r.comment != "" {
		r.then = append([]act{comment(r.id, r.comment)}, r.then...)
	}
	for _, action := range []string{"add_label", "remove_label"} {
		n := 0
		for _, a := range r.then {
			if a.name == action {
				n++
			}
		}
		d.limit(action, n)
	}
	d.rule(r.rule)
}

// simpleWord is a word that GitHub's search needs no quotes for.
var simpleWord = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// search writes a qualifier of GitHub's search; it is empty for a value that the search
// cannot take.
func search(qualifier, value string) string {
	switch {
	case simpleWord.MatchString(value):
		return " " + qualifier + ":" + value
	case strings.ContainsFunc(value, notPrinted), strings.ContainsAny(value, `"\`):
		return ""
	}
	return " " + qualifier + `:"` + value + `"`
}
