package memory_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A run records its actions; a later one reads the summary.
func Example() {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := file.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	task := memory.Task{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", At: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC),
		Event: "issues.opened", Decision: protocol.LabelAndRespond, By: "rules", Status: "applied",
		Actions: []memory.Action{{Type: protocol.ActionAddLabel, Values: []string{"bug"}, Rule: "crash", Result: triage.Done}},
	}
	r, err := memory.Update(context.Background(), store, "org/repo", 42, func(r *memory.Record) error {
		r.Put(task)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := memory.Summary(r)
	fmt.Println(text)
	// Output:
	// Issue #42: labelled 'bug' on 2026-04-10 (rule crash). No further actions.
}
