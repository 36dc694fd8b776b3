package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A pauseStatus is a pause in the answers to operators. The format is stable: new versions only add keys.
type pauseStatus struct {
	Scope  queue.ScopeKind `json:"scope"`
	Name   string          `json:"name,omitempty"` // of the agent or the repository
	By     string          `json:"by"`
	Since  time.Time       `json:"since"`
	Reason string          `json:"reason"`
	// Held is the number of tasks that the pause holds; AtLeast is true if there may be more.
	Held    int  `json:"held"`
	AtLeast bool `json:"held_at_least,omitempty"`
	// Claimed and Draining are the claims and the decisions of the scope that are in progress.
	Claimed  int `json:"claimed"`
	Draining int `json:"draining"`
}

func statusOfPause(p queue.Pause) pauseStatus {
	return pauseStatus{
		Scope: p.Scope.Kind, Name: p.Scope.Name, By: p.By, Since: p.At.UTC(), Reason: p.Reason,
		Held: p.Held, AtLeast: p.Held >= queue.MaxHeld, Claimed: p.Claimed, Draining: p.Draining,
	}
}

// A pauseHandler pauses and resumes for operators.
type pauseHandler struct {
	pauses  queue.Pauses       // nil: not found
	names   *filter.Configured // nil: not known
	observe observe.Func
	log     *slog.Logger
}

func (h *pauseHandler) list(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.pauses == nil {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	pauses, err := h.pauses.ListPauses(r.Context(), true)
	if err != nil {
		return err
	}
	list := []pauseStatus{}
	for _, p := range pauses {
		list = append(list, statusOfPause(p))
	}
	response.JSON(w, r, http.StatusOK, map[string]any{"pauses": list})
	return nil
}

// read returns the scope and the reason in the body of a request. The body has exactly one of the keys
// "everything" and "rules", which are true, and "agent" and "repo", which are names.
func (h *pauseHandler) read(w http.ResponseWriter, r *http.Request) (s queue.Scope, reason string, err error) {
	if h.pauses == nil {
		return s, "", &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	body, err := request.ReadOperatorObject(w, r, request.MaxSmall)
	if err != nil {
		return s, "", err
	}
	n := 0
	for _, kind := range []queue.ScopeKind{queue.ScopeEverything, queue.ScopeRules, queue.ScopeAgent, queue.ScopeRepo} {
		key := string(kind)
		if kind == queue.ScopeRepo {
			key = "repo"
		}
		value, ok := body.Fields[key]
		if !ok || string(value) == "false" {
			continue
		}
		n++
		s = queue.Scope{Kind: kind}
		if kind == queue.ScopeAgent || kind == queue.ScopeRepo {
			if s.Name, err = body.Text(key); err != nil {
				return s, "", err
			}
		} else if string(value) != "true" {
			return s, "", request.InvalidValue("want true", value, "body", key)
		}
	}
	if n != 1 {
		return s, "", request.InvalidValue(`want exactly one of "everything": true, "rules": true, "agent" and "repo"`, body.Data, "body")
	}
	if _, ok := body.Fields["reason"]; ok {
		if reason, err = body.Text("reason"); err != nil {
			return s, "", err
		}
	}
	if s, err = filter.Scope(s); err != nil {
		input, _ := protocol.Encode(s.Name)
		return s, "", request.InvalidValue(err.Error(), input, "body")
	}
	return s, reason, nil
}

func (h *pauseHandler) pause(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	s, reason, err := h.read(w, r)
	if err != nil {
		return err
	}
	by := cmp.Or(caller.Name, "somebody on this machine")
	p, already, err := h.pauses.Pause(r.Context(), s, by, reason)
	h.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: "pause", N: 1, Err: err})
	if err != nil {
		return err
	}
	bulk.LogPause(r.Context(), h.log, p, already, by)
	response.JSON(w, r, http.StatusOK, struct {
		pauseStatus

		Already bool   `json:"already_paused"`
		Warning string `json:"warning,omitempty"` // why the pause may hold nothing
	}{statusOfPause(p), already, h.names.Warning(s)})
	return nil
}

func (h *pauseHandler) resume(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	s, _, err := h.read(w, r)
	if err != nil {
		return err
	}
	by := cmp.Or(caller.Name, "somebody on this machine")
	p, found, err := h.pauses.Resume(r.Context(), s)
	h.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: "resume", N: 1, Err: err})
	if err != nil {
		return err
	}
	p.Scope = s // p may be zero
	bulk.LogResume(r.Context(), h.log, p, found, by)
	answer := map[string]any{"resumed": found}
	if found {
		answer["pause"] = statusOfPause(p)
	}
	response.JSON(w, r, http.StatusOK, answer)
	return nil
}
