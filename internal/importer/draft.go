package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// A draft is a configuration file in the making.
type draft struct {
	tool    string
	file    *strictyaml.File // the source
	lines   []string         // of the source
	entries []*entry
	now     *entry // the one that notes and rules belong to; nil: the top of the file
	top     []string
	notes   strictyaml.Problems
	lost    int // notes beyond maxNotes
	noted   map[mark]bool
	read    map[string]pattern // what was translated, for aliases may repeat it
	ids     map[string]int     // the last number that was given to a name; 1: none
	hints   []string           // how the file differs in general
	mode    string
	policy  policy
	size    int // of the rules so far, roughly
}

// A mark tells a note: where it stands, and what it says.
type mark struct {
	node *yaml.Node
	at   int
	msg  string
}

// A policy is what the rules need beyond the defaults.
type policy struct {
	limits   map[string]int
	interval bool // comments may follow each other at once
}

// An entry is a part of the source and what became of it.
type entry struct {
	name     string
	from, to int // lines of the source
	notes    []string
	rules    []rule
}

// A rule is one rule of ours.
type rule struct {
	id       string
	on       []string
	scan     string
	when     term // empty: always
	elseUndo bool
	then     []act
}

// An act is an action of a rule: its name and its parameters, of which the only one may
// have no key.
type act struct {
	name   string
	params []param
}

type param struct{ key, value string }

// do returns an action with its main parameter; an empty one is left out.
func do(name, value string) act {
	if value == "" {
		return act{name: name}
	}
	return act{name, []param{{"", value}}}
}

const (
	maxNotes = 1000
	maxRules = 5000 // as package rules has it
	maxWas   = 12   // lines of the source that are shown for what is left out
	maxID    = 64
	maxLabel = 50 // characters that GitHub takes
)

func newDraft(tool string, f *strictyaml.File, src []byte) *draft {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(src))
	return &draft{
		tool: tool, file: f, lines: strings.Split(text, "\n"), ids: map[string]int{},
		policy: policy{limits: map[string]int{}}, noted: map[mark]bool{}, read: map[string]pattern{},
	}
}

// begin starts the entry of a key of the source's top mapping, which ends where the next
// one starts.
func (d *draft) begin(name string, key, next *yaml.Node) {
	d.now = &entry{name: name}
	if key != nil {
		d.now.from, d.now.to = key.Line, len(d.lines)
		if next != nil {
			d.now.to = next.Line - 1
		}
	}
	d.entries = append(d.entries, d.now)
}

// full reports whether no more rules fit; what is left is only counted then.
func (d *draft) full() bool { return d.size > strictyaml.MaxSize }

// note records that something at n has no counterpart.
func (d *draft) note(n *yaml.Node, format string, args ...any) {
	d.noteIn(d.file, n, 0, fmt.Sprintf(format, args...))
}

// noteIn is noteAt for any of the files. What was said already is not said again.
func (d *draft) noteIn(f *strictyaml.File, n *yaml.Node, offset int, msg string) {
	m := mark{n, offset, msg}
	if d.noted[m] {
		return
	}
	if len(d.notes) == maxNotes {
		d.lost++
		return
	}
	d.noted[m] = true
	line, col := 1, 1
	if offset > 0 {
		before := string([]rune(n.Value)[:offset])
		line += strings.Count(before, "\n")
		col += utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	} else {
		n = &yaml.Node{Line: n.Line, Column: n.Column} // its start, and not that of its text
	}
	d.keep(d.now, f.At(n, line, col, msg))
}

// keep adds a note to the report and to an entry, or to the top of the file.
func (d *draft) keep(e *entry, p strictyaml.Problem) {
	const most = 10_000
	if len(p.Source) > most {
		p.Source = "" // it takes long to show a part of it
	}
	d.notes = append(d.notes, p)
	text := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Msg)
	if e == nil {
		d.top = append(d.top, text)
		return
	}
	e.notes = append(e.notes, text)
}

// hint adds a sentence about how the file differs in general, once.
func (d *draft) hint(text string) {
	if !slices.Contains(d.hints, text) {
		d.hints = append(d.hints, text)
	}
}

// rule adds a rule to the current entry.
func (d *draft) rule(r rule) {
	d.now.rules = append(d.now.rules, r)
	d.size += 100 + len(r.scan) + r.when.size()
	for _, a := range r.then {
		for _, p := range a.params {
			d.size += len(p.value) + len(p.key) + 30
		}
	}
}

// limit makes room for n actions of a type per event.
func (d *draft) limit(action string, n int) {
	if n > usual(action) {
		d.policy.limits[action] = max(n, d.policy.limits[action])
	}
}

// usual is how many actions of a type one event may bring when the policy says nothing.
func usual(action string) int {
	if strings.HasSuffix(action, "_label") {
		return 5
	}
	return 1
}

// id returns a new id of a rule that tells what the text says.
func (d *draft) id(text string) string {
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
	for d.ids[id] > 0 {
		// The last number is kept, or many of the same name would take long.
		d.ids[base]++
		id = base + "-" + strconv.Itoa(d.ids[base])
	}
	d.ids[id] = 1
	return id
}

// labelName checks the name of a label; ok is false when no label can have it.
func (d *draft) labelName(n *yaml.Node, name string) (string, bool) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 4*maxLabel || utf8.RuneCountInString(name) > maxLabel {
		d.note(n, "%s is no name of a label: it has 1 to %d characters", quoted(name), maxLabel)
		return "", false
	}
	return name, true
}

// quoted shows a foreign value in a message.
func quoted(s string) string {
	const most = 60
	if len(s) > 4*most {
		s = strings.ToValidUTF8(s[:4*most], "")
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
