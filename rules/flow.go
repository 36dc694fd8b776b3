package rules

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
)

// checkFlow checks the order of rules. It rejects rules that test for each other's labels in a
// circle. It warns of rules that never fire, and of rules that remove labels of other rules.
func checkFlow(rules []*rule) {
	f := flow{rules: rules, adds: map[string][]int{}, removes: map[string][]int{}}
	for i, r := range rules {
		for _, a := range r.actions {
			f.note(i, a)
		}
	}
	f.state = make([]visit, len(rules))
	for i := range rules {
		f.visit(i)
	}
	f.checkUndo()
	checkReach(rules)
}

// checkUndo warns of a rule with else_undo and override_humans that adds the same label as another
// rule. When its condition is false it removes the label, even if the other rule added it.
func (f *flow) checkUndo() {
	for i, r := range f.rules {
		if !r.undo || !r.override {
			continue
		}
		var warned []int
		for _, a := range r.actions {
			if !a.Spec().AddsLabels() {
				continue
			}
			for _, name := range a.Constants() {
				for _, j := range f.adds[text.LabelKey(name)] {
					if j == i || slices.Contains(warned, j) || !meet(r, f.rules[j]) {
						continue
					}
					warned = append(warned, j)
					r.file.Warnf(r.node, "the rule %s removes the label %s when its condition is false, even if %s added it (else_undo with override_humans); join both conditions with or in one rule",
						r.id, text.Quote(name), f.rules[j].id)
				}
			}
		}
	}
}

// A flow contains which rules write labels, and the state of the search for circles.
type flow struct {
	rules         []*rule
	adds, removes map[string][]int // rules that add or remove a label, by its [text.LabelKey]
	state         []visit
	path          []int
}

// A visit is the state of a rule in the depth-first search for circles.
type visit int

const (
	unseen visit = iota
	onPath
	seen
)

// note records the labels that an action adds or removes. It misses labels that an expression
// computes.
func (f *flow) note(rule int, a action.Action) {
	to := f.adds
	switch spec := a.Spec(); {
	case spec.AddsLabels():
	case spec.RemovesLabels():
		to = f.removes
	default:
		return
	}
	for _, name := range a.Constants() {
		key := text.LabelKey(name)
		to[key] = append(to[key], rule)
	}
}

// visit searches, depth first, the rules that may make rule i fire, and reports circles.
func (f *flow) visit(i int) {
	f.state[i] = onPath
	f.path = append(f.path, i)
	for _, j := range f.enablers(i) {
		switch f.state[j] {
		case unseen:
			f.visit(j)
		case onPath:
			f.report(f.path[slices.Index(f.path, j):])
		case seen:
		}
	}
	f.path = f.path[:len(f.path)-1]
	f.state[i] = seen
}

// report records a mistake for a circle of rules, in which each rule tests for a change by the next
// one.
func (f *flow) report(circle []int) {
	ids := make([]string, len(circle))
	for k, i := range circle {
		ids[k] = f.rules[i].id
	}
	first := f.rules[circle[0]]
	first.file.Problemf(first.node, "the rules %s test for each other's labels in a circle, so their order decides which of them fire; let one of them listen to another event, or test for something else",
		strings.Join(ids, ", "))
}

// enablers returns the other rules that may make rule i fire, because they write a label that its
// condition tests for.
func (f *flow) enablers(i int) []int {
	r := f.rules[i]
	if r.when == nil || !r.when.ReadsLabels() || len(f.adds)+len(f.removes) == 0 {
		return nil
	}
	var list []int
	for _, d := range r.when.LabelDependencies() {
		writers := f.adds
		if !d.Present {
			writers = f.removes
		}
		for name, rules := range matching(writers, d.Glob) {
			for _, j := range rules {
				if j != i && name != "" && !slices.Contains(list, j) && meet(r, f.rules[j]) {
					list = append(list, j)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// matching returns the entries whose name a pattern matches.
func matching(writers map[string][]int, glob string) map[string][]int {
	if !strings.Contains(glob, "*") {
		name := text.LabelKey(glob)
		return map[string][]int{name: writers[name]}
	}
	out := map[string][]int{}
	for name, rules := range writers {
		if text.MatchLabel(glob, name) {
			out[name] = rules
		}
	}
	return out
}

// meet reports whether both rules may listen to the same event.
func meet(a, b *rule) bool {
	for _, on := range a.on {
		if slices.ContainsFunc(b.on, func(other string) bool { return events.Covers(on, other) || events.Covers(other, on) }) &&
			(on != events.Schedule || overlap(a.scans, b.scans)) {
			return true
		}
	}
	return false
}

// overlap reports whether one issue may match a scan of a and a scan of b.
func overlap(a, b []scan) bool {
	return slices.ContainsFunc(a, func(s scan) bool {
		return slices.ContainsFunc(b, func(other scan) bool { return !s.excludes(other) })
	})
}

// excludes reports whether certainly no issue matches both scans, such as "label:stale" and
// "-label:stale".
func (s scan) excludes(other scan) bool {
	if strings.Contains(s.query+other.query, "(") || strings.Contains(s.query+" "+other.query, " OR ") {
		return false
	}
	if text.FindsPulls(s.query) != text.FindsPulls(other.query) {
		return true
	}
	mine, theirs := s.words(), other.words()
	rulesOut := func(words, others []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(others, "-"+w) })
	}
	return rulesOut(mine, theirs) || rulesOut(theirs, mine)
}

// words returns the words of a query in lower case, without quotes.
func (s scan) words() []string {
	var list []string
	for _, w := range s.placed() {
		if w != "" {
			list = append(list, strings.ReplaceAll(strings.ToLower(w), `"`, ""))
		}
	}
	return list
}

// checkReach warns of rules that never fire.
func checkReach(rules []*rule) {
	var stops []*rule
	for _, r := range rules {
		if v, constant := constantCondition(r); constant && !v {
			r.file.Warnf(r.node, "the rule %s never fires: its condition is always false", r.id)
		}
		if i := slices.IndexFunc(stops, func(earlier *rule) bool { return hides(earlier, r) }); i >= 0 {
			r.file.Warnf(r.node, "the rule %s never fires: %s listens to the same events and always stops before it", r.id, stops[i].id)
		}
		if r.stop {
			stops = append(stops, r)
		}
	}
}

// hides reports whether an earlier rule with "stop: true" matches whenever r would. A rule with the
// same condition does, unless the condition reads labels, because rules in between may change them.
func hides(earlier, r *rule) bool {
	always, constant := constantCondition(earlier)
	same := r.when != nil && earlier.when != nil && r.when.Source() == earlier.when.Source() && !r.when.ReadsLabels()
	if earlier.when != nil && (!constant || !always) && !same {
		return false
	}
	if slices.ContainsFunc(r.scans, func(s scan) bool {
		return !slices.ContainsFunc(earlier.scans, func(other scan) bool { return other.query == s.query })
	}) {
		return false
	}
	return !slices.ContainsFunc(r.on, func(on string) bool {
		return !slices.ContainsFunc(earlier.on, func(other string) bool { return events.Covers(other, on) })
	})
}

// constantCondition returns the value of a condition that is the literal true or false.
func constantCondition(r *rule) (value, ok bool) {
	if r.when == nil {
		return false, false
	}
	return r.when.Constant()
}
