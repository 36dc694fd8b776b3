package parity_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A row contains the comparison of one case.
type row struct {
	c                              *parityCase
	events, same, reported, silent int

	theirs int           // calls of the original
	calls  int           // Foreman's calls on the events that the original's workflow gets
	more   int           // events on which Foreman makes more calls than the original
	beside int           // Foreman's calls on other events
	causes map[cause]int // by cause of the additional calls: number of events
}

// count counts the calls of both sides.
func (r *row) count(theirs, ours map[string]int) {
	for id, n := range theirs {
		r.theirs += n
		r.calls += ours[id]
		if ours[id] > n {
			r.more++
		}
	}
	for id, n := range ours {
		if _, heard := theirs[id]; !heard {
			r.beside += n
		}
	}
}

// A rowList collects rows. It is safe for concurrent use.
type rowList struct {
	mu   sync.Mutex
	rows []row
}

func (l *rowList) add(r row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, r)
}

const (
	tableBegin = "<!-- table: make import-compare writes it -->\n"
	tableEnd   = "<!-- /table -->\n"
)

// write replaces the table of a file.
func (l *rowList) write(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("%s: no place for a table", path)
	}
	text := before + tableBegin + l.markdown() + tableEnd + after
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// markdown renders the rows grouped by tool, with a sum for each tool.
func (l *rowList) markdown() string {
	slices.SortFunc(l.rows, func(a, b row) int { return cmp.Compare(a.c.tool+"/"+a.c.name, b.c.tool+"/"+b.c.name) })
	var b strings.Builder
	b.WriteString("| tool | configuration | events | same | differences reported | differences silent " +
		"| calls of the original | our calls | events with more calls of ours | our calls on other events |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	line := func(tool, name string, r row) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d |\n",
			tool, name, r.events, r.same, r.reported, r.silent, r.theirs, r.calls, r.more, r.beside)
	}
	var total, whole row
	for i, r := range l.rows {
		line(r.c.tool, fmt.Sprintf("%s, %s", r.c.repo(), r.c.header["Version"]), r)
		total = total.plus(r)
		if i+1 == len(l.rows) || l.rows[i+1].c.tool != r.c.tool {
			line("**"+r.c.tool+"**", "all", total)
			whole, total = whole.plus(total), row{}
		}
	}
	line("**all**", "", whole)
	b.WriteString("\n| why ours makes more calls on an event | events |\n|---|---:|\n")
	for _, why := range causes() {
		fmt.Fprintf(&b, "| %s | %d |\n", why, whole.causes[why])
	}
	return b.String()
}

func (r row) plus(s row) row {
	sum := maps.Clone(s.causes)
	if sum == nil {
		sum = map[cause]int{}
	}
	for why, n := range r.causes {
		sum[why] += n
	}
	return row{
		causes: sum,
		events: r.events + s.events, same: r.same + s.same, reported: r.reported + s.reported, silent: r.silent + s.silent,
		theirs: r.theirs + s.theirs, calls: r.calls + s.calls, more: r.more + s.more, beside: r.beside + s.beside,
	}
}
