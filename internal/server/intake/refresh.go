package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

const (
	freshFor      = time.Second // how long a summary counts as current after its task was enqueued
	memoryTimeout = time.Second // how long a claim may wait for the memory
)

// RefreshSummaries wraps q so that claimed tasks contain a current summary of the history,
// instead of the summary with which they were enqueued. It reads the memory only if the summary may have
// changed: for tasks that waited for another one, were claimed before, or are older than a second.
// A claim also succeeds if the memory is unavailable.
func (t *Intake) RefreshSummaries(q queue.Queue) queue.Queue {
	if t.o.Memory == nil {
		return q
	}
	return refreshingQueue{q, t}
}

type refreshingQueue struct {
	queue.Queue

	intake *Intake
}

// ClaimNext implements queue.Queue.
func (q refreshingQueue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	c, err := q.Queue.ClaimNext(ctx, agent, o)
	if err != nil {
		return c, err
	}
	claimed := c.Until.Add(-o.Lease) // by the queue's clock, as Enqueued is
	if c.Waited || c.Attempt > 1 || claimed.Sub(c.Enqueued) > freshFor {
		c.Message = q.intake.refresh(ctx, c)
	}
	return c, nil
}

// refresh returns the message of a claimed task with a current summary. If there is none, it
// returns the message unchanged.
func (t *Intake) refresh(ctx context.Context, c queue.Claim) []byte {
	var m struct {
		Repo    string `json:"repo"`
		Payload struct {
			Number int `json:"number"`
		} `json:"payload"`
		Context struct {
			Summary *string `json:"memory_summary"`
		} `json:"context"`
	}
	if err := json.Unmarshal(c.Message, &m); err != nil || m.Payload.Number < 1 {
		return c.Message // written by another program that used this queue before
	}
	ctx, cancel := context.WithTimeout(ctx, memoryTimeout)
	defer cancel()
	record, err := t.o.Memory.Load(ctx, m.Repo, m.Payload.Number)
	if errors.Is(err, memory.ErrNotFound) {
		return c.Message
	}
	var message []byte
	if err == nil {
		summary := t.summarize(ctx, record)
		if summary == m.Context.Summary || summary != nil && m.Context.Summary != nil && *summary == *m.Context.Summary {
			return c.Message
		}
		message, err = withSummary(c.Message, summary)
	}
	if err != nil {
		t.o.Log.WarnContext(ctx, "memory unavailable; the task keeps its earlier summary",
			"task", c.ID, "repo", m.Repo, "issue", m.Payload.Number, "error", err)
		return c.Message
	}
	return message
}

// withSummary replaces the summary in a task's message. It does not change the other bytes.
func withSummary(message []byte, summary *string) ([]byte, error) {
	from, to, err := member(message, "context")
	if err != nil {
		return nil, err
	}
	start, end, err := member(message[from:to], "memory_summary")
	if err != nil {
		return nil, err
	}
	text, err := protocol.Encode(summary)
	if err != nil {
		return nil, err
	}
	return slices.Concat(message[:from+start], text, message[from+end:]), nil
}

// member returns where the value of a key in a JSON object begins and ends. If a key is repeated,
// the last one counts, as in decoders.
func member(object []byte, key string) (from, to int, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return 0, 0, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return 0, 0, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, 0, err
		}
		if name == json.Token(key) {
			to = int(d.InputOffset())
			from = to - len(value)
		}
	}
	if to == 0 {
		return 0, 0, fmt.Errorf("the message has no %q", key)
	}
	return from, to, nil
}
