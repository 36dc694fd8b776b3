package api

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/decision"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A taskHandler receives the heartbeats and decisions of agents. It answers 202 in every
// state of the task, since published agents treat any other status as their own failure.
// A lost claim is reported only to clients that send the number of their claim.
type taskHandler struct {
	queue  queue.Queue
	lease  time.Duration
	bodies *request.Limiter // limits the bodies of decisions
	wake   func()           // nil: not called
	log    *slog.Logger
}

// complete stores a decision.
func (h *taskHandler) complete(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	release, err := h.bodies.Acquire(r)
	if err != nil {
		return err
	}
	defer release()
	body, err := request.ReadObject(w, r, request.MaxDecision)
	if err != nil {
		return invalidDecision(err, body, caller)
	}
	m, err := parseDecision(body)
	if err != nil {
		return invalidDecision(err, body, caller)
	}
	ref, err := readRef(body, m.TaskID, caller)
	if err != nil {
		return invalidDecision(err, body, caller)
	}
	m.AgentVersion = protocol.ParseAgentVersion(r.Header.Get(protocol.AgentVersionHeader))
	stored, err := decision.Encode(m)
	if err != nil {
		return err
	}
	if len(stored) > queue.MaxMessage {
		return request.TooLarge(queue.MaxMessage)
	}
	ctx, cancel := request.StoreContext(r.Context())
	defer cancel()
	receipt, err := h.queue.Complete(ctx, ref, stored)
	if err := h.claimError(r, "complete", ref, err); err != nil {
		return err
	}
	if receipt.Accepted {
		h.log.LogAttrs(r.Context(), slog.LevelDebug, "task completed", slog.String("task", logText(ref.ID)),
			slog.String("decision", string(m.Decision)), slog.Int("actions", len(m.Actions)), slog.String("by", ref.By))
	} else if receipt.Reason != "" {
		h.log.LogAttrs(r.Context(), slog.LevelWarn, "decision ignored", slog.String("task", logText(ref.ID)),
			slog.String("decision", string(m.Decision)), slog.String("reason", receipt.Reason), slog.String("by", ref.By))
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// maxLogged is how many characters of a client's text are in a warning.
const maxLogged = 400

// invalidDecision adds a warning to the answer 422: agents often do not log their answers.
func invalidDecision(err error, body request.Object, caller access.Caller) error {
	answer, ok := errors.AsType[*response.Error](err)
	if !ok || answer.Status != http.StatusUnprocessableEntity {
		return err
	}
	id, _ := body.Text("task_id")
	detail, _ := protocol.Encode(answer.Detail)
	answer.Warning = response.InvalidDecision
	answer.Attrs = []slog.Attr{
		slog.String("task", logText(id)), slog.String("by", caller.Name), slog.String("detail", sanitize.Line(text.Shorten(string(detail), maxLogged))),
	}
	return answer
}

// heartbeat prolongs a claim.
func (h *taskHandler) heartbeat(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	id, body, err := readTask(w, r)
	if err != nil {
		return err
	}
	ref, err := readRef(body, id, caller)
	if err != nil {
		return err
	}
	err = h.queue.Heartbeat(r.Context(), ref, h.lease)
	if err := h.claimError(r, "heartbeat", ref, err); err != nil {
		return err
	}
	h.log.LogAttrs(r.Context(), slog.LevelDebug, "heartbeat", slog.String("task", logText(id)), slog.String("by", ref.By))
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// result wakes the loop that carries decisions out.
func (h *taskHandler) result(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	id, _, err := readTask(w, r)
	if err != nil {
		return err
	}
	h.log.LogAttrs(r.Context(), slog.LevelDebug, "result announced", slog.String("task", logText(id)), slog.String("by", caller.Name))
	if h.wake != nil {
		h.wake()
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// claimError logs an unknown task or a lost claim. It returns that error only if the client sent an
// attempt. It returns all other errors of the queue unchanged.
func (h *taskHandler) claimError(r *http.Request, verb string, ref queue.Ref, err error) error {
	var reason error
	for _, target := range []error{queue.ErrLost, queue.ErrNotFound, queue.ErrNotYours} {
		if errors.Is(err, target) {
			reason = target
		}
	}
	if reason == nil {
		return err
	}
	h.log.LogAttrs(r.Context(), slog.LevelInfo, "claim not valid", slog.String("verb", verb), slog.String("task", logText(ref.ID)),
		slog.Int("attempt", ref.Attempt), slog.String("by", ref.By), slog.String("reason", reason.Error()))
	if errors.Is(reason, queue.ErrNotFound) || ref.Attempt == 0 {
		return nil
	}
	return reason
}

// readTask returns a small body and the task's id in it.
func readTask(w http.ResponseWriter, r *http.Request) (id string, body request.Object, err error) {
	body, err = request.ReadObject(w, r, request.MaxSmall)
	if err != nil {
		return "", body, err
	}
	id, err = body.Text("task_id")
	return id, body, err
}

// readRef returns the claim that the client refers to.
func readRef(body request.Object, id string, caller access.Caller) (queue.Ref, error) {
	attempt, err := body.PositiveInt("attempt")
	return queue.Ref{ID: id, Attempt: attempt, By: caller.Name}, err
}
