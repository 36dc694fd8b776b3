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
	newFor     = time.Second // that a task counts as new: nothing was done since that is worth a look
	memoryTime = time.Second // that a claim waits for the memory
)

// Fresh returns a queue that does what q does, but hands out tasks with what was done
// before as it is known then, not as it was when they were enqueued. It looks only
// where that may differ: at a task that waited behind another one, that was handed out before, or
// that is older than a second. A memory that cannot be read does not keep a task from being handed out.
func (t *Intake) Fresh(q queue.Queue) queue.Queue {
	if t.o.Memory == nil {
		return q
	}
	return fresh{q, t}
}

type fresh struct {
	queue.Queue

	intake *Intake
}

// ClaimNext implements queue.Queue.
func (f fresh) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	c, err := f.Queue.ClaimNext(ctx, agent, o)
	if err != nil {
		return c, err
	}
	claimed := c.Until.Add(-o.Lease) // by the clock that also told when it was enqueued
	if c.Waited || c.Attempt > 1 || claimed.Sub(c.Enqueued) > newFor {
		c.Message = f.intake.renewed(ctx, c)
	}
	return c, nil
}

// renewed returns the message of a task with what was done before as it is known now, or as
// it is if that is not known.
func (t *Intake) renewed(ctx context.Context, c queue.Claim) []byte {
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
		return c.Message // another program's, such as one that the queue was taken over from
	}
	within, cancel := context.WithTimeout(ctx, memoryTime)
	defer cancel()
	record, err := t.o.Memory.Load(within, m.Repo, m.Payload.Number)
	if errors.Is(err, memory.ErrNotFound) {
		return c.Message
	}
	var message []byte
	if err == nil {
		var told *string
		if text, ok := t.o.Summarize(within, record.Faded(t.o.Now())); ok {
			told = &text
		}
		if told == m.Context.Summary || told != nil && m.Context.Summary != nil && *told == *m.Context.Summary {
			return c.Message
		}
		message, err = withSummary(c.Message, told)
	}
	if err != nil {
		t.o.Log.WarnContext(ctx, "memory cannot be read; the agent is told what was known when the task was enqueued",
			"task", c.ID, "repo", m.Repo, "issue", m.Payload.Number, "error", err)
		return c.Message
	}
	return message
}

// withSummary returns the message of a task with another summary. All else stays as it is,
// byte for byte.
func withSummary(message []byte, told *string) ([]byte, error) {
	from, to, err := member(message, "context")
	if err != nil {
		return nil, err
	}
	start, end, err := member(message[from:to], "memory_summary")
	if err != nil {
		return nil, err
	}
	text, err := protocol.Encode(told)
	if err != nil {
		return nil, err
	}
	return slices.Concat(message[:from+start], text, message[from+end:]), nil
}

// member finds the value of a key of a JSON object; of several the last one, as
// decoders do.
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
