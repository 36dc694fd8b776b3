package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/org/foreman-action/queue"
)

// A Player runs scripts on a store. It fails and ends the test at the first step with an unexpected
// result. Only Pair and the methods of testing.TB are safe for concurrent use.
type Player struct{ state }

// NewPlayer returns a player for an empty store.
func NewPlayer(tb testing.TB, p Pair) *Player {
	return &Player{state{TB: tb, Pair: p, leases: map[string]queue.Lease{}}}
}

// LeaseOf returns the newest lease of task n that a script got.
func (p *Player) LeaseOf(n int) queue.Lease { return p.leases[ID(n)] }

// Play runs a script. args are inserted as by fmt.Sprintf.
func (p *Player) Play(script string, args ...any) {
	p.Helper()
	if len(args) > 0 {
		script = fmt.Sprintf(script, args...)
	}
	steps, err := parse(script)
	if err != nil {
		p.Fatal(err)
	}
	for _, s := range steps {
		p.run(s)
	}
}

// run runs a step: one call, or one call for each task that the step names.
func (p *Player) run(s step) {
	p.Helper()
	each, ok := taskCalls()[s.verb]
	if !ok {
		call, ok := calls()[s.verb]
		if !ok {
			p.Fatalf("%s: there is no such call", s.text)
		}
		p.check(s, call)
		return
	}
	ids := s.words
	if len(ids) == 0 { // the newest task; for "enqueue" the next one
		n := p.last
		if s.verb == "enqueue" {
			n++
		}
		ids = []string{strconv.Itoa(n)}
	}
	for _, id := range ids {
		p.check(s, func(c *call) (outcome, error) { return each(c, idOf(id)) })
	}
}

// check makes a call and compares its result.
func (p *Player) check(s step, f func(*call) (outcome, error)) {
	p.Helper()
	c := &call{state: &p.state, step: s, q: p.A, pauses: p.PausesA, args: s.arguments()}
	if s.second {
		c.q, c.pauses = p.B, p.PausesB
	}
	got, err := f(c)
	if len(c.args) > 0 {
		p.Fatalf("%s: unknown arguments %v", s.text, c.args)
	}
	if err != nil {
		got = outcome{words: []string{errorWord(err)}, normal: []string{}}
	}
	for i, word := range got.words {
		got.words[i] = withNumbers(word)
	}
	want := s.want
	if want == nil {
		want = got.normal
	}
	if want != nil && !slices.Equal(got.words, want) {
		p.Fatalf("%s: got %q (%v, %+v), want %q", s.text, got.words, err, got.value, want)
	}
	p.compare(s, fields(got.value, p.Clock.Now()))
}

// compare compares the fields of a result.
func (p *Player) compare(s step, got map[string]string) {
	p.Helper()
	for _, c := range s.fields {
		if text, ok := got[c.key]; !ok || !c.holds(text) {
			p.Fatalf("%s: got %s %.200q, want %.200q; all: %.2000q", s.text, c.key, text, c.value, fmt.Sprint(got))
		}
		if s.only {
			delete(got, c.key)
		}
	}
	for key, text := range got {
		if s.only && !isZero(text) {
			p.Fatalf("%s: got %s %.200q, want none", s.text, key, text)
		}
	}
}

// errorWord returns the word for an error in scripts.
func errorWord(err error) string {
	for word, known := range map[string]error{
		"empty": queue.ErrEmpty, "notfound": queue.ErrNotFound, "lost": queue.ErrLost,
		"notyours": queue.ErrNotYours, "state": queue.ErrState, "changed": queue.ErrChanged,
	} {
		if errors.Is(err, known) {
			return word
		}
	}
	return "error"
}
