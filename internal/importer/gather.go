package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	minChoices = 4 // so many rules that each add a label are merged into one
	manyTerms  = 2 // fewer rules are merged if they have so many terms in common
)

// gather merges similar rules. Rules that each add a label become one rule with a list of labels.
// Rules that do the same for several labels of the event become one rule with these labels. most is
// the maximal number of labels in a list.
func gather(entries []entry, given ids, most int) []entry {
	return gathering{entries}.sameActions().addedLabels(given, most).entries
}

// A gathering is a list of entries whose rules are being merged.
type gathering struct{ entries []entry }

// A slot is the position of a rule: the index of its entry, and the rule's index in the entry.
type slot struct{ entry, rule int }

// groups returns the slots of the rules, grouped by key. Groups are in the order of their first
// rule. Rules with an empty key are omitted.
func (g gathering) groups(key func(r rule) string) [][]slot {
	var out [][]slot
	at := map[string]int{}
	for i, e := range g.entries {
		for j, r := range e.rules {
			k := key(r)
			if k == "" {
				continue
			}
			n, known := at[k]
			if !known {
				n = len(out)
				at[k] = n
				out = append(out, nil)
			}
			out[n] = append(out[n], slot{i, j})
		}
	}
	return out
}

// rule returns the rule at a slot.
func (g gathering) rule(s slot) rule { return g.entries[s.entry].rules[s.rule] }

// A replacement is what replaces a rule of a group. The first rule of a group is replaced by the
// new rules, and the others by nothing.
type replacement struct {
	rules []rule
	first int // index of the entry with the new rules
}

// replace returns the entries with the new rules for groups of slots. The new rules take the place
// of the first rule of a group. If an entry loses all rules, its notes move to the entry with the
// new rules.
func (g gathering) replace(groups [][]slot, with [][]rule) gathering {
	by := map[slot]replacement{}
	for i, slots := range groups {
		for _, s := range slots {
			by[s] = replacement{first: slots[0].entry}
		}
		by[slots[0]] = replacement{with[i], slots[0].entry}
	}
	out := slices.Clone(g.entries)
	for i, e := range g.entries {
		var rest []rule
		moved := i
		for j, r := range e.rules {
			if n, replaced := by[slot{i, j}]; replaced {
				rest, moved = append(rest, n.rules...), n.first
				continue
			}
			rest = append(rest, r)
		}
		if out[i].rules = rest; len(e.rules) > 0 && len(rest) == 0 {
			out[moved].notes = append(slices.Clone(out[moved].notes), e.notes...)
			out[i].gathered = true
		}
	}
	return gathering{slices.DeleteFunc(out, func(e entry) bool { return e.gathered })}
}

// sameActions merges rules with the same actions for different labels of the event.
func (g gathering) sameActions() gathering {
	var groups [][]slot
	var with [][]rule
	same := func(r rule) string {
		if len(r.labels) == 0 {
			return ""
		}
		return fmt.Sprintf("%#v", []any{r.on, r.when, r.override, r.then})
	}
	for _, slots := range g.groups(same) {
		if len(slots) == 1 {
			continue
		}
		one := g.rule(slots[0])
		one.labels = slices.Clone(one.labels)
		for _, s := range slots[1:] {
			for _, l := range g.rule(s).labels {
				if !slices.Contains(one.labels, l) {
					one.labels = append(one.labels, l)
				}
			}
		}
		if one.condition().size() <= maxCondition {
			groups, with = append(groups, slots), append(with, []rule{one})
		}
	}
	return g.replace(groups, with)
}

// addedLabels merges rules that each add one label.
func (g gathering) addedLabels(given ids, most int) gathering {
	var groups [][]slot
	var with [][]rule
	adds := func(r rule) string {
		if len(r.scans) > 0 || len(r.labels) > 0 || r.when.empty() || len(r.then) != 1 ||
			r.then[0].name != "add_label" || strings.Contains(r.when.line()+r.then[0].params[0].value, "{{") {
			return ""
		}
		return fmt.Sprint(r.on, r.override)
	}
	for _, slots := range g.groups(adds) {
		rules := make([]rule, len(slots))
		for i, s := range slots {
			rules[i] = g.rule(s)
		}
		if len(slots) < minChoices && (len(slots) == 1 || len(commonTerms(rules)) < manyTerms) {
			continue
		}
		groups, with = append(groups, slots), append(with, chosen(rules, given, most))
	}
	return g.replace(groups, with)
}

// maxActions is the maximal number of actions of a merged rule, below the limit of package rules.
const maxActions = 40

// chosen returns rules that add the labels of all the given rules.
func chosen(rules []rule, given ids, most int) []rule {
	common := commonTerms(rules)
	var acts []act
	var list []choice
	size, work := 0, 0
	known := map[string]bool{}
	for _, r := range rules {
		c := choice{all(r.when.all()[len(common):]...), r.then[0].params[0].value}
		if known[c.String()] {
			continue
		}
		known[c.String()] = true
		size += len(c.String()) + 2
		work += c.work()
		if len(list) > 0 && (len(list) == most || size > maxCondition || work > maxWork) {
			acts = append(acts, act{name: "add_labels", choices: list})
			list, size, work = nil, len(c.String()), c.work()
		}
		list = append(list, c)
	}
	acts = append(acts, act{name: "add_labels", choices: list})
	var out []rule
	for some := range slices.Chunk(acts, maxActions) {
		out = append(out, rule{id: given.next("labels"), on: rules[0].on, when: all(common...), override: rules[0].override, then: some})
	}
	return out
}

// commonTerms returns the terms that all the rules begin with. It leaves each rule at least one
// term of its own.
func commonTerms(rules []rule) []term {
	common := rules[0].when.all()
	for _, r := range rules {
		terms := r.when.all()
		n := 0
		for n < len(common) && n < len(terms)-1 && common[n].line() == terms[n].line() {
			n++
		}
		common = common[:n]
	}
	return common
}

// maxWork limits the steps per file of one list, so that a pull request of 3,000 files, GitHub's
// maximum, does not exceed the cost limit of an expression. For each file, a call such as any_file
// costs about two steps, and each of its globs half a step.
const maxWork = 28

// work estimates how many steps the condition costs for each file.
func (c choice) work() int {
	text := c.when.line()
	calls := 0
	for _, function := range []string{"any_file(", "all_files(", "(pr.files, ", "matches_glob("} {
		calls += strings.Count(text, function)
	}
	if calls == 0 {
		return 0
	}
	return 2*calls + strings.Count(text, `"`)/4
}

// String returns the choice as an expression. Its result is an item of the list; "" adds no item.
func (c choice) String() string { return c.when.line() + " ? " + strconv.Quote(c.text) + ` : ""` }
