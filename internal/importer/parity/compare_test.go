package parity_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/importer"
)

var (
	originals = flag.String("originals", "", "run the original actions below this directory, as TOOL/VERSION, beside ours, and record what they do")
	generate  = flag.Bool("generate", false, "rewrite the events of the cases")
	relist    = flag.Bool("update", false, "remove the differences that are gone, and add new ones, to be explained")
	table     = flag.String("table", "", "write the table of differences into this file")
	verbose   = flag.Bool("log", false, "print the logs of the original actions")
)

// TestRecorded runs the imported configurations on the recorded events. Every difference from
// the original must be listed, and every listed one must exist. In short mode it compares
// two configurations of each tool.
func TestRecorded(t *testing.T) {
	t.Parallel()
	var rows rowList
	t.Run("all", func(t *testing.T) {
		for _, tool := range importer.Tools() {
			list := cases(t, tool)
			if testing.Short() && *table == "" && !*relist {
				list = list[:2]
			}
			for _, c := range list {
				t.Run(tool+"/"+c.name, func(t *testing.T) {
					t.Parallel()
					o, report := newOurs(t, c)
					got, calls := play(t, c, o)
					c.dropLeftOut(t)
					if *relist {
						c.known = relisted(c, got)
						set(t, c, "differences", c.known)
					}
					more := costlier(c, calls)
					if *relist && len(c.more)+len(more) > 0 {
						c.more = more
						set(t, c, "more", c.more)
					}
					r := check(t, c, got, report)
					if diff := cmp.Diff(c.more, more); diff != "" {
						t.Errorf("events on which ours makes more calls: -update writes them (-recorded +now)\n%s", diff)
					}
					r.count(c.calls, counts(calls))
					if r.causes = causesOf(more); r.causes[unknownCause] > 0 {
						t.Errorf("%d events on which ours makes more calls for no known reason", r.causes[unknownCause])
					}
					rows.add(r)
				})
			}
		}
	})
	if *table != "" {
		rows.write(t, *table)
	}
}

// unexplained is the reason of new differences. The test fails until somebody writes a real reason.
const unexplained = "not explained yet"

// relisted returns the differences of a case, updated to the current results.
func relisted(c *parityCase, got []outcome) []difference {
	differs := map[string]bool{}
	for _, o := range got {
		differs[o.ID] = !slices.Equal(o.After, c.want[o.ID].After)
	}
	var list []difference
	for _, d := range c.known {
		d.Events = slices.DeleteFunc(slices.Clone(d.Events), func(id string) bool { return !differs[id] })
		for _, id := range d.Events {
			differs[id] = false
		}
		if len(d.Events) > 0 {
			list = append(list, d)
		}
	}
	more := difference{Reason: unexplained}
	for _, o := range got {
		if differs[o.ID] {
			more.Events = append(more.Events, o.ID)
		}
	}
	if len(more.Events) > 0 {
		list = append(list, more)
	}
	return list
}

// check compares Foreman's outcomes with those of the original.
func check(t *testing.T, c *parityCase, got []outcome, report string) row {
	t.Helper()
	if least := c.size(40); len(got) < least || len(got) != len(c.want) {
		t.Errorf("got %d outcomes, %d are recorded, want the same, and at least %d", len(got), len(c.want), least)
	}
	explained := map[string]difference{}
	for _, d := range c.known {
		if d.Reason == "" || d.Reason == unexplained {
			t.Errorf("explain the differences %v", d.Events)
		}
		if !strings.Contains(report, d.Reported) {
			t.Errorf("the import no longer reports %q", d.Reported)
		}
		for _, id := range d.Events {
			explained[id] = d
		}
	}
	r := row{c: c, events: len(got)}
	for _, o := range got {
		want := c.want[o.ID]
		d, known := explained[o.ID]
		same := slices.Equal(o.After, want.After)
		switch {
		case same && known:
			t.Errorf("%s: no longer differs; remove it from the differences", o.ID)
		case !same && !known:
			t.Errorf("%s: a difference that is not listed:%s", o.ID, compared(want.After, o.After))
		}
		switch {
		case same:
			r.same++
		case d.Reported != "":
			r.reported++
		default:
			r.silent++
		}
		delete(explained, o.ID)
	}
	for id := range explained {
		t.Errorf("the differences name %s, which is not an event", id)
	}
	return r
}

func compared(want, got []string) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		w, g := "", ""
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			fmt.Fprintf(&b, "\n  original: %s\n  ours:     %s", w, g)
		}
	}
	return b.String()
}

// play runs one side on all events of a case. It returns the outcomes, and the calls for each event
// to which the side's workflow listens.
func play(t *testing.T, c *parityCase, s side) ([]outcome, map[string][]githubtest.Call) {
	t.Helper()
	labels := labelsOf(t, c)
	var list []outcome
	index := map[string]int{}
	worlds := map[int]*world{}
	c.leftOut = nil
	workflow := readFlow(t, c.workflow.Data, actionOf(c.tool))
	calls := map[string][]githubtest.Call{}
	for _, e := range c.events {
		w := worlds[e.World]
		if w == nil {
			w = newWorld(t, c, labels)
			for name, data := range s.files() {
				w.addFile(name, data)
			}
			worlds[e.World] = w
		}
		w.calls = nil
		if w.happen(e) {
			if workflow.leavesOut(w, e) {
				c.leftOut = append(c.leftOut, e.ID)
			}
			if s.run(w, e) {
				calls[e.ID] = w.calls
			}
		}
		for _, n := range observed(w, c.tool, e) {
			id := e.ID
			if c.tool == "stale" {
				id = fmt.Sprintf("%d#%d", e.World, n)
			}
			k, ok := index[id]
			if !ok {
				k, index[id] = len(list), len(list)
				list = append(list, outcome{ID: id})
			}
			list[k].After = append(list[k].After, w.state(n))
		}
	}
	return list, calls
}

// observed returns the issues whose state is recorded after an event: all issues after a scheduled
// run, else the issue of the event.
func observed(w *world, tool string, e event) []int {
	if tool != "stale" {
		return []int{e.number()}
	}
	var list []int
	if e.On == "scan" {
		for n := range w.opened {
			list = append(list, n)
		}
		slices.Sort(list)
	}
	return list
}

// labelsOf returns the labels that the repository has: those of all events, and those that the
// configuration names.
func labelsOf(t *testing.T, c *parityCase) []string {
	seen := map[string]bool{}
	for _, e := range c.events {
		for _, l := range append(slices.Clone(e.Labels), e.Label) {
			seen[l] = true
		}
	}
	for _, l := range configured(t, c) {
		seen[l] = true
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// TestOriginals runs the original actions on the events, and records what they do.
func TestOriginals(t *testing.T) { //nolint:paralleltest // it writes the cases
	if *originals == "" {
		t.Skip("needs -originals, node and the published actions; see docs/proof/import.md")
	}
	for _, tool := range importer.Tools() {
		for _, c := range cases(t, tool) {
			t.Run(tool+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				got, calls := play(t, c, newOriginal(t, c, *originals))
				set(t, c, "want", got)
				set(t, c, "calls", []map[string]int{counts(calls)})
			})
		}
	}
}
