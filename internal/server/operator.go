package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A queueStatus is what GET /queue/status answers.
type queueStatus struct {
	States map[queue.State]int `json:"states"` // how many tasks are in each
	// Held are those of the pending and completed ones that are held back until a time, or
	// behind another task.
	Held     int `json:"held"`
	Draining int `json:"draining"` // completed ones that are being carried out
	// Oldest is when the oldest pending task was enqueued, and OldestAge how many seconds
	// ago that is; null and 0: there is none.
	Oldest    *time.Time    `json:"oldest_pending"`
	OldestAge float64       `json:"oldest_pending_seconds"`
	Agents    []agentStatus `json:"agents"` // that have tasks which are pending or claimed
}

// An agentStatus counts the tasks of an agent.
type agentStatus struct {
	Agent   string `json:"agent"`
	Pending int    `json:"pending"`
	Held    int    `json:"held"` // of the pending ones
	Claimed int    `json:"claimed"`
}

func (s *Server) status(c *call) error {
	stats, err := s.o.Queue.Stats(c.r.Context())
	if err != nil {
		return err
	}
	st := queueStatus{States: map[queue.State]int{}, Held: stats.Held, Draining: stats.Draining, Agents: []agentStatus{}}
	for _, state := range queue.States() {
		st.States[state] = stats.States[state]
	}
	if !stats.Oldest.IsZero() {
		oldest := stats.Oldest.UTC()
		st.Oldest = &oldest
		st.OldestAge = max(s.o.Now().Sub(oldest), 0).Round(time.Millisecond).Seconds()
	}
	for _, a := range stats.Agents {
		st.Agents = append(st.Agents, agentStatus(a))
	}
	c.reply(http.StatusOK, st)
	return nil
}

func (s *Server) retry(c *call) error {
	return s.change(c, "retry", func(ctx context.Context, by string) (queue.State, error) {
		return s.o.Queue.Retry(ctx, c.id, by)
	})
}

func (s *Server) cancel(c *call) error {
	return s.change(c, "cancel", func(ctx context.Context, by string) (queue.State, error) {
		return queue.Failed, s.o.Queue.Cancel(ctx, c.id, by)
	})
}

// change does what an operator wants with a task, and answers with its state.
func (s *Server) change(c *call, verb string, do func(ctx context.Context, by string) (queue.State, error)) error {
	by := c.who.by()
	if by == "" {
		by = "somebody on this machine"
	}
	state, err := do(c.r.Context(), by)
	if err != nil {
		return err
	}
	s.log.LogAttrs(c.r.Context(), slog.LevelInfo, "task changed by an operator", slog.String("task", shown(c.id)), slog.String("verb", verb), slog.String("state", string(state)), slog.String("by", by))
	c.reply(http.StatusOK, map[string]string{"task_id": c.id, "state": string(state)})
	return nil
}

// alive says that the process answers.
func (s *Server) alive(c *call) error {
	c.reply(http.StatusOK, map[string]bool{"healthy": true})
	return nil
}

// ready says whether tasks make progress. What exactly is wrong goes to the log, once in a
// minute: anybody may ask, and ask on.
func (s *Server) ready(c *call) error {
	answer := struct {
		Ready        bool              `json:"ready"`
		Dependencies map[string]string `json:"dependencies"`
	}{true, map[string]string{}}
	status := http.StatusOK
	for name, err := range s.dependencies(c.r.Context()) {
		answer.Dependencies[name] = "ok"
		if err != nil {
			answer.Dependencies[name] = "down"
			answer.Ready, status = false, http.StatusServiceUnavailable
			if s.wrong.Tell("not ready: " + name) {
				s.log.LogAttrs(c.r.Context(), slog.LevelWarn, "not ready", slog.String("dependency", name), slog.Any("error", err))
			}
		}
	}
	c.reply(status, answer)
	return nil
}

// pulseTime is how long it serves what was found out about the dependencies. Anybody may
// ask, and asking a database whether it takes writes is a write: a flood of questions would
// have all connections to it, and agents would get none.
const pulseTime = time.Second

// A pulse is how the dependencies were a moment ago.
type pulse struct {
	mu    sync.Mutex
	at    time.Time // zero: nobody asked yet
	found map[string]error
}

// dependencies tells how the dependencies are. Of those who ask at once, one finds out.
func (s *Server) dependencies(ctx context.Context) map[string]error {
	if s.o.Health == nil {
		return nil
	}
	s.pulse.mu.Lock()
	defer s.pulse.mu.Unlock()
	if age := s.o.Now().Sub(s.pulse.at); s.pulse.at.IsZero() || age < 0 || age >= pulseTime {
		// Who asked may be gone before it is found out, and others wait for it.
		s.pulse.found = s.o.Health(context.WithoutCancel(ctx))
		s.pulse.at = s.o.Now()
	}
	return s.pulse.found
}
