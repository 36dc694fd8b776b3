package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/longpoll"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// maxWait is the longest time that a client may wait for a task. Proxies end a request that has no
// answer within a minute, and a task handed out at that moment would be lost until its claim expires.
const maxWait = 50 * time.Second

// A claimHandler hands out tasks.
type claimHandler struct {
	queue queue.Queue
	lease time.Duration
	polls *longpoll.Group // ends with draining
	// draining is closed when no further tasks are handed out, and stopping when the server stops.
	draining, stopping <-chan struct{}
	log                *slog.Logger
}

// next claims the next task of an agent. If there is none, it waits as long as the client requests.
func (h *claimHandler) next(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	agent, err := readAgent(w, r)
	if err != nil {
		return err
	}
	wait, err := readWait(r)
	if err != nil {
		return err
	}
	if !caller.MayClaim(agent) {
		return &response.Error{
			Status: http.StatusForbidden, Detail: "the credential is not for tasks of this agent", Warning: response.OtherAgent,
			Attrs: []slog.Attr{slog.String("credential", caller.Name), slog.String("agent", sanitize.Line(text.Shorten(agent, maxLogged)))},
		}
	}
	if h.drained() {
		h.hold(r.Context(), min(wait, maxHold))
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	claim := func() (queue.Claim, error) { return h.claim(r.Context(), agent, caller.Name) }
	c, err := claim()
	if errors.Is(err, queue.ErrEmpty) && wait > 0 {
		c, err = h.polls.Claim(r.Context(), agent, wait, claim)
	}
	switch {
	case errors.Is(err, queue.ErrEmpty):
		if h.drained() {
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(http.StatusNoContent)
	case err != nil:
		return err
	default:
		object, member := withClaim(c, h.lease)
		response.Raw(w, r, http.StatusOK, object, member)
	}
	return nil
}

// readAgent returns the canonical address of the agent in the body.
func readAgent(w http.ResponseWriter, r *http.Request) (string, error) {
	body, err := request.ReadObject(w, r, request.MaxSmall)
	if err != nil {
		return "", err
	}
	url, err := body.Text("agent_url")
	if err != nil {
		return "", err
	}
	agent, err := address.Canonical(url)
	if err != nil {
		// The error does not contain the address, because it may contain a password.
		return "", request.InvalidValue(err.Error(), nil, "body", "agent_url")
	}
	return agent, nil
}

// readWait returns how long the client wants to wait for a task, at most maxWait.
func readWait(r *http.Request) (time.Duration, error) {
	value := r.URL.Query().Get("wait")
	if value == "" {
		return 0, nil
	}
	d, err := protocol.ParseDuration(value)
	if err != nil || d < 0 {
		input, _ := protocol.Encode(strings.ToValidUTF8(value, "\uFFFD"))
		return 0, request.InvalidValue("want a duration such as 30s", input, "query", "wait")
	}
	return min(d, maxWait), nil
}

// drained reports whether no further tasks are handed out.
func (h *claimHandler) drained() bool {
	select {
	case <-h.draining:
		return true
	default:
		return false
	}
}

// maxHold is how long a long poll lasts while no tasks are handed out. It keeps an agent from asking
// again at once, and does not keep it for long from another server.
const maxHold = 5 * time.Second

// hold waits, at most until the server stops or ctx ends.
func (h *claimHandler) hold(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.stopping:
	case <-ctx.Done():
	}
}

func (h *claimHandler) claim(ctx context.Context, agent, by string) (queue.Claim, error) {
	if h.drained() {
		return queue.Claim{}, queue.ErrEmpty
	}
	c, err := h.queue.ClaimNext(ctx, agent, queue.ClaimOptions{By: by, Lease: h.lease})
	if err != nil {
		return queue.Claim{}, err
	}
	if ctx.Err() != nil {
		h.release(ctx, c, by)
		return queue.Claim{}, ctx.Err()
	}
	h.log.LogAttrs(ctx, slog.LevelDebug, "task claimed", slog.String("task", c.ID), slog.String("agent", agent),
		slog.Int("attempt", c.Attempt), slog.String("by", by))
	return c, nil
}

// release returns a task whose client disconnected. Otherwise the claim would last for its
// whole lease, and count as an attempt.
func (h *claimHandler) release(ctx context.Context, c queue.Claim, by string) {
	ctx, cancel := request.StoreContext(ctx)
	defer cancel()
	err := h.queue.ReleaseClaim(ctx, queue.Ref{ID: c.ID, Attempt: c.Attempt, By: by}, 0)
	if err != nil {
		h.log.LogAttrs(ctx, slog.LevelWarn, "releasing an undelivered task failed; its claim expires by itself", slog.String("task", c.ID), slog.Any("error", err))
	}
}

// withClaim returns a task's message with the claim, protocol.TaskClaim, as an additional member.
// It returns the JSON object without its closing brace, and the member. It does not decode the
// message.
func withClaim(c queue.Claim, lease time.Duration) (object, member []byte) {
	const space = " \t\r\n"
	object = bytes.TrimRight(bytes.TrimSuffix(bytes.TrimRight(c.Message, space), []byte("}")), space)
	if !bytes.HasSuffix(object, []byte("{")) {
		member = append(member, ',')
	}
	return object, fmt.Appendf(member, `"claim":{"attempt":%d,"lease_seconds":%d}}`, c.Attempt, max(lease/time.Second, 1))
}
