package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// complete keeps a decision. Whatever the task's state, the answer is 202: published
// agents take all else for a failure of theirs. Only who says which claim it has is told
// that it lost it.
func (s *Server) complete(c *call) error {
	leave, err := s.enter(s.results, c.r)
	if err != nil {
		return err
	}
	defer leave()
	b := buffer()
	defer release(b)
	fields, body, err := c.object(b, maxDecision)
	if err != nil {
		return err
	}
	m, err := decision(body, fields)
	if err != nil {
		return err
	}
	ref, err := c.ref(m.TaskID, fields)
	if err != nil {
		return err
	}
	kept, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	if len(kept) > queue.MaxMessage {
		return tooLarge(queue.MaxMessage)
	}
	ctx, cancel := lasting(c.r)
	defer cancel()
	receipt, err := s.o.Queue.Complete(ctx, ref, kept)
	if err := s.tell(c, "complete", ref, err); err != nil {
		return err
	}
	if receipt.Accepted {
		s.log.LogAttrs(c.r.Context(), slog.LevelInfo, "task completed", slog.String("task", shown(ref.ID)),
			slog.String("decision", string(m.Decision)), slog.Int("actions", len(m.Actions)), slog.String("by", ref.By))
	} else if receipt.Reason != "" {
		s.log.LogAttrs(c.r.Context(), slog.LevelWarn, "decision ignored", slog.String("task", shown(ref.ID)),
			slog.String("decision", string(m.Decision)), slog.String("reason", receipt.Reason), slog.String("by", ref.By))
	}
	c.empty(http.StatusAccepted)
	return nil
}

// keepTimeout is how long it may take to keep what arrived: less than what is left to a
// request when the server stops.
const keepTimeout = 15 * time.Second

// lasting is the context in which something is kept that arrived whole. It does not end with
// the request: published agents wait for five seconds, and send no decision twice.
func lasting(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), keepTimeout)
}

// heartbeat makes a claim last longer.
func (s *Server) heartbeat(c *call) error {
	b := buffer()
	defer release(b)
	id, fields, err := c.task(b)
	if err != nil {
		return err
	}
	ref, err := c.ref(id, fields)
	if err != nil {
		return err
	}
	err = s.o.Queue.Heartbeat(c.r.Context(), ref, s.o.Lease)
	if err := s.tell(c, "heartbeat", ref, err); err != nil {
		return err
	}
	s.log.LogAttrs(c.r.Context(), slog.LevelDebug, "heartbeat", slog.String("task", shown(id)), slog.String("by", ref.By))
	c.empty(http.StatusAccepted)
	return nil
}

// result wakes those who carry decisions out.
func (s *Server) result(c *call) error {
	b := buffer()
	defer release(b)
	id, _, err := c.task(b)
	if err != nil {
		return err
	}
	s.log.LogAttrs(c.r.Context(), slog.LevelDebug, "result announced", slog.String("task", shown(id)), slog.String("by", c.who.by()))
	if s.o.Wake != nil {
		s.o.Wake()
	}
	c.empty(http.StatusAccepted)
	return nil
}

// task reads which task a small body names. The fields of the body lie in b.
func (c *call) task(b *bytes.Buffer) (id string, fields map[string]json.RawMessage, err error) {
	fields, body, err := c.object(b, maxSmall)
	if err != nil {
		return "", nil, err
	}
	id, err = text(fields, "task_id", body)
	return id, fields, err
}

// ref says which claim the caller means.
func (c *call) ref(id string, fields map[string]json.RawMessage) (queue.Ref, error) {
	n, err := attempt(fields)
	return queue.Ref{ID: id, Attempt: n, By: c.who.by()}, err
}

// tell returns the error of the queue if the caller is to know of it. A task that is
// unknown, or not the caller's any more, is news only for who said which claim it has.
func (s *Server) tell(c *call, verb string, ref queue.Ref, err error) error {
	var why error
	for _, known := range []error{queue.ErrLost, queue.ErrNotFound, queue.ErrNotYours} {
		if errors.Is(err, known) {
			why = known
		}
	}
	if why == nil {
		return err
	}
	s.log.LogAttrs(c.r.Context(), slog.LevelInfo, "claim not valid", slog.String("verb", verb), slog.String("task", shown(ref.ID)),
		slog.Int("attempt", ref.Attempt), slog.String("by", ref.By), slog.String("reason", why.Error()))
	if errors.Is(why, queue.ErrNotFound) || ref.Attempt == 0 {
		return nil
	}
	return why
}

// shown is an id that came from a client, for a log.
func shown(id string) string {
	const most = 80
	if len(id) > most {
		id = id[:most]
	}
	return sanitize.Name(id)
}
