package importer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxID      = 64
	maxComment = 60_000 // bytes of a comment, beyond which it is not looked at
)

// A rule is one rule of ours.
type rule struct {
	name     string // that the id is made of
	id       string // empty before numbering
	on       []string
	labels   []string // one of them is the label of the event; empty: no such condition
	when     term     // empty: always
	scans    []string
	override bool // it acts against people, too
	elseUndo bool
	then     []act
}

// An act is an action of a rule: its name and its parameters, of which the only one may
// have no key.
type act struct {
	name    string
	params  []param
	list    []string // instead of params: the value is a list
	choices []choice // instead of params: the value is a list that is computed
}

// A choice is a text of a list that is in it when a condition holds.
type choice struct {
	when term
	text string
}

type param struct{ key, value string }

// do returns an action with its main parameter; an empty one is left out.
func do(name, value string) act {
	if value == "" {
		return act{name: name}
	}
	return act{name: name, params: []param{{"", value}}}
}

// template writes a text that is to stay as it is where {{ }} has a meaning.
func template(s string) string { return strings.ReplaceAll(s, "{{", `{{ "{{" }}`) }

// onceKey is the parameter of a comment that is filled in with the rule's id.
const onceKey = "once"

// comment returns the action that posts a comment once.
func comment(body string) act {
	return act{name: "comment", params: []param{{onceKey, ""}, {"body", body}}}
}

// condition returns the whole condition of the rule.
func (r rule) condition() term {
	switch len(r.labels) {
	case 0:
		return r.when
	case 1:
		return all(is("event.label == "+strconv.Quote(r.labels[0])), r.when)
	}
	return all(is("event.label in "+list(r.labels)), r.when)
}

// behaviour returns a text that two rules share when they do the same for the same events.
func (r rule) behaviour() string {
	r.name, r.id = "", ""
	return fmt.Sprintf("%q", fmt.Sprint(r))
}

// size returns the length of a rule in the file, roughly, in bytes.
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

// count returns how many actions of the rule have a name. Each label of a list counts.
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

// ids holds the last number that was given to a name; 1: none.
type ids map[string]int

// reserved returns ids of which some are given.
func reserved(list []string) ids {
	s := ids{}
	for _, id := range list {
		s[id] = 1
	}
	return s
}

// number returns the rules with their ids. A rule without actions takes an id as well,
// and is left out.
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

// next returns a new id of a rule, made of a text.
func (s ids) next(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLower(r) || unicode.IsDigit(r)), r == '_' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == maxID-8 {
			break
		}
	}
	base := strings.Trim(b.String(), "-")
	if base == "" {
		base = "rule"
	}
	id := base
	for s[id] > 0 {
		// The last number is kept, or many of the same name would take long.
		s[base]++
		id = base + "-" + strconv.Itoa(s[base])
	}
	s[id] = 1
	return id
}
