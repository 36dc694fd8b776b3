package llm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// The model's text follows the facts. If the model is unavailable, the summary has the facts alone.
func Example() {
	client, err := llm.New(llm.Options{
		Provider: llm.Anthropic,
		Model:    "claude-sonnet-4-6",
		Key:      "sk-ant-example",
		Transport: &canned{response: response(200, `{"type":"message","role":"assistant","stop_reason":"end_turn",
			"content":[{"type":"text","text":"The agent marked the issue as a bug."}]}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := memory.Record{Repo: "org/repo", Issue: 42}
	r.Put(memory.Task{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", At: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC),
		Actions: []memory.Action{{Type: "add_label", Values: []string{"bug"}, Result: triage.Done}},
	})
	text, _ := summarize.Summarizer{Model: client}.Summarize(context.Background(), r)
	fmt.Println(text)
	// Output: Issue #42: labelled 'bug' on 2026-04-10 (agent). No further actions. The agent marked the issue as a bug.
}
