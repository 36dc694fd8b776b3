package importer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/layout"
)

const (
	maxID      = 64
	maxComment = 60_000 // maximal size of a comment in bytes; larger ones are not imported
)

// A rule is one rule in our rule language.
type rule struct {
	name     string // text from which the id is made
	id       string // empty before numbering
	on       []string
	labels   []string // the event's label must be one of these; empty: no such condition
	guard    term     // the tool does nothing where this is false; empty: always true
	when     term     // empty: always
	scans    []string
	pull     bool // its search finds only pull requests
	override bool // it also undoes changes of people
	then     []act
	// sync is the condition that the issue has the label that the rule adds. The tool removes the label
	// where when is false. Empty: it does not.
	sync term
}

// An act is an action of a rule: its name and its parameters. A single parameter may have no key.
type act struct {
	name    string
	params  []param
	list    []string // replaces params: the value is this list
	choices []choice // replaces params: the value is the list of the texts whose conditions are true
}

// A choice is a text that is in a list if its condition is true.
type choice struct {
	when term
	text string
}

type param struct{ key, value string }

// do returns an action with its main parameter; an empty parameter is omitted.
func do(name, value string) act {
	if value == "" {
		return act{name: name}
	}
	return act{name: name, params: []param{{"", value}}}
}

// template escapes "{{" in a text, so that a template renders the text unchanged.
func template(s string) string { return strings.ReplaceAll(s, "{{", `{{ "{{" }}`) }

// onceKey is a parameter of a comment. Its value is the rule's id, which is added later.
const onceKey = "once"

// comment returns the action that posts a comment once.
func comment(body string) act {
	return act{name: "comment", params: []param{{onceKey, ""}, {"body", body}}}
}

// synced returns the rule with its guard as a part of its condition. If the tool also removes the
// label, a second rule does that.
func (r rule) synced() []rule {
	when := r.when
	r.when = all(r.guard, when)
	if r.sync.empty() || when.empty() {
		return []rule{r}
	}
	undo := rule{name: "no longer " + r.name, on: r.on, override: true, then: []act{do("remove_label", r.then[0].params[0].value)}}
	undo.when = all(r.sync, r.guard, not(when))
	r.sync = term{}
	if when.text == never {
		return []rule{undo}
	}
	return []rule{r, undo}
}

// condition returns the condition of the rule including that about its labels.
func (r rule) condition() term {
	switch len(r.labels) {
	case 0:
		return r.when
	case 1:
		return all(is("event.label == "+strconv.Quote(r.labels[0])), r.when)
	}
	return all(is("event.label in "+list(r.labels)), r.when)
}

// behaviour returns a text that is the same for two rules that do the same for the same events.
func (r rule) behaviour() string {
	r.name, r.id = "", ""
	return fmt.Sprintf("%q", fmt.Sprint(r))
}

// size returns the approximate length of a rule in the file, in bytes.
func (r rule) size() int {
	size := 100 + r.condition().size()
	for _, s := range r.scans {
		size += len(s) + 10
	}
	for _, a := range r.then {
		for _, p := range a.params {
			size += len(p.value) + len(p.key) + 30
		}
		for _, s := range a.list {
			size += len(s) + 4
		}
	}
	return size
}

// count returns how often the rule has an action. Each label of a list counts as one.
func (r rule) count(action string) int {
	n := 0
	for _, a := range r.then {
		switch a.name {
		case action + "s":
			n += len(a.list)
		case action:
			n++
		}
	}
	return n
}

// ids maps a name to the last number that was added to it to make an id; 1: no number was added.
type ids map[string]int

// reserved returns ids in which the listed ones are taken.
func reserved(list []string) ids {
	s := ids{}
	for _, id := range list {
		s[id] = 1
	}
	return s
}

// number gives ids to the rules. It omits rules without actions, but these use up an id as well.
func (s ids) number(rules []rule) []rule {
	var out []rule
	for _, r := range rules {
		r.id = s.next(r.name)
		if len(r.then) == 0 {
			continue
		}
		for i, a := range r.then {
			if len(a.params) == 0 || a.params[0].key != onceKey {
				continue
			}
			r.then[i].params = append([]param{{onceKey, r.id}}, a.params[1:]...)
		}
		out = append(out, r)
	}
	return out
}

// next makes a new id for a rule from a text.
func (s ids) next(text string) string {
	base := cmp.Or(layout.ID(text, maxID-8), "rule")
	id := base
	for s[id] > 0 {
		// The search starts from the last number, because otherwise many rules of the same name
		// would take long.
		s[base]++
		id = base + "-" + strconv.Itoa(s[base])
	}
	s[id] = 1
	return id
}
