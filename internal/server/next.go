package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// maxWait is how long a client may wait for a task, however long it wants to.
const maxWait = time.Minute

// next hands out a task.
func (s *Server) next(c *call) error {
	b := buffer()
	defer release(b)
	agent, err := c.agent(b)
	if err != nil {
		return err
	}
	wait, err := c.wait()
	if err != nil {
		return err
	}
	if !c.who.mayClaim(agent) {
		return &refusal{status: http.StatusForbidden, detail: "the credential is not for tasks of this agent"}
	}
	claim, err := s.claim(c.r.Context(), agent, c.who)
	if errors.Is(err, queue.ErrEmpty) && wait > 0 {
		claim, err = s.await(c, agent, wait)
	}
	if errors.Is(err, queue.ErrEmpty) {
		c.empty(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	b.Reset()
	splice(b, claim, s.o.Lease)
	c.send(http.StatusOK, b.Bytes())
	return nil
}

// agent reads whose task is wanted.
func (c *call) agent(b *bytes.Buffer) (string, error) {
	fields, body, err := c.object(b, maxSmall)
	if err != nil {
		return "", err
	}
	url, err := text(fields, "agent_url", body)
	if err != nil {
		return "", err
	}
	agent, err := address.Canonical(url)
	if err != nil {
		// The address is not repeated: it may hold a password.
		return "", invalid(problem{Type: codeValue, Loc: []any{"body", "agent_url"}, Msg: "Value error, " + err.Error(), Input: raw(nil)})
	}
	return agent, nil
}

// wait reads how long the client wants to wait for a task.
func (c *call) wait() (time.Duration, error) {
	if c.r.URL.RawQuery == "" {
		return 0, nil
	}
	text := c.r.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	d, err := protocol.ParseDuration(text)
	if err != nil || d < 0 {
		input, _ := protocol.Encode(strings.ToValidUTF8(text, "\uFFFD"))
		return 0, invalid(problem{Type: codeValue, Loc: []any{"query", "wait"}, Msg: "Value error, want a duration such as 30s", Input: raw(input)})
	}
	return min(d, maxWait), nil
}

func (s *Server) claim(ctx context.Context, agent string, who *known) (queue.Claim, error) {
	claim, err := s.o.Queue.ClaimNext(ctx, agent, queue.ClaimOptions{By: who.by(), Lease: s.o.Lease})
	if err != nil {
		return queue.Claim{}, err
	}
	if ctx.Err() != nil {
		s.giveBack(ctx, claim, who)
		return queue.Claim{}, ctx.Err()
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "task claimed", slog.String("task", claim.ID), slog.String("agent", agent),
		slog.Int("attempt", claim.Attempt), slog.String("by", who.by()))
	return claim, nil
}

// giveBack ends a claim that nobody hears of: who asked for it is gone. It would run for the
// whole of its time else, and count as a hand-out.
func (s *Server) giveBack(ctx context.Context, claim queue.Claim, who *known) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	err := s.o.Queue.GiveBack(ctx, queue.Ref{ID: claim.ID, Attempt: claim.Attempt, By: who.by()}, 0)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "a task that nobody got could not be given back; its claim runs out", slog.String("task", claim.ID), slog.Any("error", err))
	}
}

// await claims a task as soon as there is one. ErrEmpty when the time is over, or the
// server is to stop.
func (s *Server) await(c *call, agent string, wait time.Duration) (queue.Claim, error) {
	w := s.waiters.join(agent)
	defer s.waiters.leave(w)
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		// Also at first: a task may have come since the last look, and before joining.
		claim, err := s.claim(c.r.Context(), agent, c.who)
		if !errors.Is(err, queue.ErrEmpty) {
			if err == nil {
				s.waiters.wake(agent) // there may be more where this came from
			}
			return claim, err
		}
		select {
		case <-w.woken:
		case <-over.C:
			return queue.Claim{}, queue.ErrEmpty
		case <-s.stopping:
			return queue.Claim{}, queue.ErrEmpty
		case <-c.r.Context().Done():
			return queue.Claim{}, c.r.Context().Err()
		}
	}
}

// splice writes the message of a task with the claim in it: protocol.TaskClaim. The
// message is a JSON object, and it is not decoded for that.
func splice(b *bytes.Buffer, claim queue.Claim, lease time.Duration) {
	object := bytes.TrimRight(claim.Message, " \t\r\n")
	object = bytes.TrimRight(bytes.TrimSuffix(object, []byte("}")), " \t\r\n")
	b.Grow(len(object) + 64)
	b.Write(object)
	if !bytes.HasSuffix(object, []byte("{")) {
		b.WriteByte(',')
	}
	b.WriteString(`"claim":{"attempt":`)
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(claim.Attempt), 10))
	b.WriteString(`,"lease_seconds":`)
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(max(lease/time.Second, 1)), 10))
	b.WriteString("}}")
}
