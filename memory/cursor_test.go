package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
)

// TestMove keeps one cursor for each scan, drops the oldest beyond 20, and stores hostile values.
func TestMove(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	r := memory.Record{Repo: "org/repo", Issue: memory.Repository, Revision: 1}
	for n := range 25 {
		r.Move(memory.Cursor{Scan: fmt.Sprint("scan ", n), Issue: n + 1, Created: day})
	}
	long := strings.Repeat("\x00é", 1000)
	r.Move(memory.Cursor{Scan: "scan 24", Issue: 7, Created: day})
	r.Move(memory.Cursor{Scan: long, Issue: 8, Created: day})
	_, first := r.Cursor("scan 5")
	c, last := r.Cursor("scan 24")
	l, found := r.Cursor(long)
	if first || !last || !found || c.Issue != 7 || l.Issue != 8 || len(r.Cursors) != 20 {
		t.Errorf("got %v, %v, %v, %+v, %d cursors", first, last, found, c, len(r.Cursors))
	}
	r.Move(memory.Cursor{Scan: long + " is:open", Issue: 9, Created: day})
	if l, found = r.Cursor(long); !found || l.Issue != 8 {
		t.Errorf("got %+v for a query with the same beginning", l)
	}
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := memory.Decode(data, "org/repo", memory.Repository)
	if diff := cmp.Diff(r.Cursors, again.Cursors); err != nil || diff != "" {
		t.Errorf("decoded: %v (-want +got):\n%s", err, diff)
	}
	for name, change := range map[string]func(c *memory.Cursor){
		"no issue": func(c *memory.Cursor) { c.Issue = 0 },
		"scan":     func(c *memory.Cursor) { c.Scan = long },
		"time":     func(c *memory.Cursor) { c.Created = day.AddDate(20_000, 0, 0) },
	} {
		bad := memory.Record{Repo: "org/repo", Issue: memory.Repository, Revision: 1, Cursors: []memory.Cursor{{Scan: "x", Issue: 1, Created: day}}}
		change(&bad.Cursors[0])
		if _, err := memory.Encode(bad); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
