package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

// A queueStatus is the answer to GET /queue/status.
type queueStatus struct {
	States map[queue.State]int `json:"states"` // number of tasks by state
	// Held is the number of pending and completed tasks that wait until a time, or for another task.
	Held     int `json:"held"`
	Draining int `json:"draining"` // completed tasks whose decision is being executed
	// Oldest is when the oldest pending task was enqueued, and OldestAge its age in seconds. If there
	// is none, they are null and 0.
	Oldest    *time.Time    `json:"oldest_pending"`
	OldestAge float64       `json:"oldest_pending_seconds"`
	Agents    []agentStatus `json:"agents"` // agents with pending or claimed tasks
	// Pauses are the pauses, the oldest first; absent: there are none.
	Pauses []pauseStatus `json:"pauses,omitempty"`
	// Stopping is what this server waits for before it stops; absent: it does not drain.
	Stopping *drain.Progress `json:"stopping,omitempty"`
}

// An agentStatus counts the tasks of an agent.
type agentStatus struct {
	Agent   string `json:"agent"`
	Pending int    `json:"pending"`
	Held    int    `json:"held"` // part of the pending tasks
	Claimed int    `json:"claimed"`
}

// An operatorHandler shows the queue to operators and changes the state of tasks for them.
type operatorHandler struct {
	filter  filter.Parser
	queue   queue.Queue
	pauses  queue.Pauses                                              // nil: none
	drainer *drain.Drainer                                            // nil: none
	budget  func() budget.Report                                      // nil: not found
	read    func(ctx context.Context) (unchanged []string, err error) // nil: not found
	observe observe.Func
	now     func() time.Time
	log     *slog.Logger
}

func (h *operatorHandler) status(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	stats, err := h.queue.Stats(r.Context())
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
		st.OldestAge = max(h.now().Sub(oldest), 0).Round(time.Millisecond).Seconds()
	}
	for _, a := range stats.Agents {
		st.Agents = append(st.Agents, agentStatus(a))
	}
	if h.pauses != nil {
		list, err := h.pauses.ListPauses(r.Context(), true)
		if err != nil {
			return err
		}
		for _, p := range list {
			st.Pauses = append(st.Pauses, statusOfPause(p))
		}
	}
	if h.drainer != nil {
		st.Stopping = h.drainer.Progress(r.Context())
	}
	response.JSON(w, r, http.StatusOK, st)
	return nil
}

// calls shows the calls to GitHub, and how many are left.
func (h *operatorHandler) calls(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.budget == nil {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	response.JSON(w, r, http.StatusOK, h.budget())
	return nil
}

// change returns the handler that changes the task in the path. The body, which may be empty, contains the
// version of the task that the operator saw and, to ask again, a reason.
func (h *operatorHandler) change(verb bulk.Verb) func(http.ResponseWriter, *http.Request, access.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
		body, err := request.ReadOptionalObject(w, r, request.MaxSmall)
		if err != nil {
			return err
		}
		text := func(key string) (string, error) {
			if _, ok := body.Fields[key]; !ok {
				return "", nil
			}
			return body.Text(key)
		}
		version, err := text("version")
		if err != nil {
			return err
		}
		act := bulk.Act{Verb: verb, By: cmp.Or(caller.Name, "somebody on this machine")}
		if act.Reason, err = text("reason"); err != nil {
			return err
		}
		t, err := taskjson.Seen(r.PathValue("id"), version)
		if err != nil {
			return unprocessable(err)
		}
		state, err := act.Change(r.Context(), h.queue, t)
		h.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: string(verb), N: 1, Err: err})
		if err != nil {
			return err
		}
		h.log.LogAttrs(r.Context(), slog.LevelInfo, "task changed by an operator", slog.String("task", logText(t.ID)), slog.String("verb", string(verb)), slog.String("state", string(state)), slog.String("by", act.By))
		response.JSON(w, r, http.StatusOK, map[string]string{"task_id": t.ID, "state": string(state)})
		return nil
	}
}

// reload makes the server read its configuration again. The server answers before it restarts its
// parts.
func (h *operatorHandler) reload(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	if h.read == nil {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	unchanged, err := h.read(r.Context())
	if err != nil {
		return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	}
	h.log.LogAttrs(r.Context(), slog.LevelInfo, "an operator requested a reload", slog.String("by", cmp.Or(caller.Name, "somebody on this machine")))
	response.JSON(w, r, http.StatusAccepted, map[string]any{"reloading": true, "unchanged": unchanged})
	return nil
}
