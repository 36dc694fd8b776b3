package protocol_test

import (
	"fmt"

	"github.com/org/foreman-action/protocol"
)

// An agent reads a task, decides, and answers.
func Example() {
	task, err := protocol.ParseTask([]byte(`{
		"task_id": "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", "type": "issue.triage", "repo": "org/repo",
		"payload": {"number": 42, "title": "Crash on start"},
		"context": {"llm_backend": {"provider": "none", "model": "none"}, "memory_summary": null}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	label, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "bug"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := protocol.Encode(protocol.DecisionMessage{
		TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Rationale: "It crashes.", Actions: []protocol.ActionItem{label},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(answer))
	// Output:
	// {"task_id":"a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d","decision":"label_and_respond","rationale":"It crashes.","actions":[{"type":"add_label","label":"bug"}]}
}

// All problems of a decision are reported at once.
func ExampleParseDecision() {
	_, err := protocol.ParseDecision([]byte(`{"task_id": 7, "decision": "maybe", "rationale": "r", "actions": [{"body": "hi"}]}`))
	fmt.Println(err)
	// Output:
	// decode decision: task_id: want a string, got a number; decision: want 'label_and_respond', 'close', 'escalate' or 'skip', got "maybe"; actions.0.type: required, but missing
}

// The parameters of a known action are checked by its specification, after the message is parsed.
func ExampleActionSpec_Check() {
	d, err := protocol.ParseDecision([]byte(`{"task_id": "t", "decision": "close", "rationale": "r",
		"actions": [{"type": "close_issue", "reason": "bored"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range d.Actions {
		spec, known := protocol.SpecOf(a.Type)
		fmt.Println(known, spec.Check(a))
	}
	// Output:
	// true close_issue: reason: want 'completed' or 'not_planned', got "bored"
}
