package parity_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A row is the comparison of one case.
type row struct {
	c                              *parityCase
	events, same, reported, silent int
	calls                          int // ours; those of the original are in the case
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

// markdown renders the rows by tool, each tool with its sum.
func (l *rowList) markdown() string {
	slices.SortFunc(l.rows, func(a, b row) int { return cmp.Compare(a.c.tool+"/"+a.c.name, b.c.tool+"/"+b.c.name) })
	var b strings.Builder
	b.WriteString("| tool | configuration | events | same | differences reported | differences silent | calls of the original | our calls |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|\n")
	line := func(tool, name string, r row, calls int) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", tool, name, r.events, r.same, r.reported, r.silent, calls, r.calls)
	}
	sum, all := 0, 0
	var total, whole row
	for i, r := range l.rows {
		calls := r.c.calls()
		line(r.c.tool, fmt.Sprintf("%s, %s", r.c.repo(), r.c.header["Version"]), r, calls)
		total, sum = total.plus(r), sum+calls
		if i+1 == len(l.rows) || l.rows[i+1].c.tool != r.c.tool {
			line("**"+r.c.tool+"**", "all", total, sum)
			whole, all = whole.plus(total), all+sum
			total, sum = row{}, 0
		}
	}
	line("**all**", "", whole, all)
	return b.String()
}

func (r row) plus(s row) row {
	return row{
		events: r.events + s.events, same: r.same + s.same, reported: r.reported + s.reported, silent: r.silent + s.silent, calls: r.calls + s.calls,
	}
}
