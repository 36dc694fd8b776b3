package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// TakeProposals enqueues a task that brings the proposals of an issue up to date. There is no event, and
// nothing is decided. dedup is as in Arrival.
func (t *Intake) TakeProposals(ctx context.Context, repo string, issue int, dedup string) (Outcome, error) {
	id, err := protocol.NewTaskID(t.o.Random)
	if err != nil {
		return Outcome{}, fmt.Errorf("make a task for the proposals of %s#%d: %w", repo, issue, err)
	}
	payload, err := json.Marshal(map[string]any{"number": issue, "issue_number": issue, "repository": map[string]string{"full_name": repo}})
	if err != nil {
		return Outcome{}, err
	}
	message, err := protocol.Encode(protocol.TaskMessage{
		TaskID: id, Type: protocol.TypeIssueTriage, Repo: repo, Payload: payload,
		Context: protocol.TaskContext{LLMBackend: protocol.LLMBackendRef{Provider: "none", Model: "none"}},
	})
	if err != nil {
		return Outcome{}, err
	}
	origin, err := json.Marshal(queue.Origin{Event: triage.EventSchedule, Source: queue.SourceProposals})
	if err != nil {
		return Outcome{}, err
	}
	task := queue.Task{ID: id, Repo: repo, Issue: issue, Message: message, Origin: origin, Dedup: dedup}
	return t.enqueue(ctx, task, "proposals", queue.SourceProposals)
}
