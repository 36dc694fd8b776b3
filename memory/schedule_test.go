package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
)

// TestPendingBounds adds more and longer labels and closings than a record accepts. The record
// keeps the first ones and can be saved.
func TestPendingBounds(t *testing.T) {
	t.Parallel()
	var r memory.Record
	r.Repo, r.Issue, r.Revision = "org/repo", 7, 1
	hostile := strings.Repeat("\x01\xff\u2028<", 400)
	kept := 0
	for i := range 2 * memory.MaxNever {
		if r.Forbid(fmt.Sprint(i, hostile)) {
			kept++
		}
	}
	if kept != memory.MaxNever || !r.Forbids(fmt.Sprint(0, hostile)) || r.Forbids(fmt.Sprint(memory.MaxNever, hostile)) {
		t.Errorf("kept %d labels, want %d and the first ones", kept, memory.MaxNever)
	}
	kept = 0
	for i := range 2 * memory.MaxClosings {
		c := memory.ScheduledClose{Rule: fmt.Sprint(i, hostile), Reason: hostile, Task: hostile, Due: time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)}
		c.Veto = slices.Repeat([]string{hostile}, 100)
		if r.Plan(c) {
			kept++
		}
	}
	if kept != memory.MaxClosings {
		t.Errorf("kept %d closings, want %d", kept, memory.MaxClosings)
	}
	for i := range 200 {
		r.Put(memory.Task{ID: fmt.Sprint(i), Rationale: hostile, At: time.Date(2026, 4, 10, 0, 0, i, 0, time.UTC)})
	}
	if _, err := memory.Encode(r); err != nil {
		t.Error(err)
	}
	if text, ok := memory.Summary(r); !ok || len(text) > memory.MaxSummary {
		t.Errorf("summary: got %d bytes, %t", len(text), ok)
	}
}

// TestPutBoundsPending puts a task into a record whose labels and closings are out of bounds.
func TestPutBoundsPending(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	r := memory.Record{
		Repo: "org/repo", Issue: 7, Revision: 1, Never: []string{"Bug", "bug", long},
		Closings: slices.Repeat([]memory.ScheduledClose{{Rule: long}}, 20),
	}
	r.Put(memory.Task{ID: "1"})
	if len(r.Never) != 2 || len(r.Closings) != 1 {
		t.Errorf("got %d labels and %d closings, want 2 and 1", len(r.Never), len(r.Closings))
	}
	if _, err := memory.Encode(r); err != nil {
		t.Error(err)
	}
}

func TestNamesFold(t *testing.T) {
	t.Parallel()
	var r memory.Record
	r.Forbid("Stale")
	for _, tt := range []struct {
		name string
		want bool
	}{{"stale", true}, {"STALE", true}, {"ſtale", true}, {"stale ", false}, {"stal", false}, {"", false}} {
		if got := r.Forbids(tt.name); got != tt.want {
			t.Errorf("%q: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
