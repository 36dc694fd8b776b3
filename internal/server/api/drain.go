package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/protocol"
)

// A drainHandler stops the server after its work for operators.
type drainHandler struct {
	drainer *drain.Drainer // nil: not found
	observe observe.Func
	log     *slog.Logger
}

// start begins the drain, and answers what is in flight. The body, which may be empty, has a time and
// whether to wait for the work of all servers.
func (h *drainHandler) start(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	if h.drainer == nil {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	body, err := request.ReadOptionalObject(w, r, request.MaxSmall)
	if err != nil {
		return err
	}
	by := cmp.Or(caller.Name, "somebody on this machine")
	asked := drain.Request{By: by}
	if asked.Timeout, err = readTimeout(body); err != nil {
		return err
	}
	if value, ok := body.Fields["all"]; ok {
		if json.Unmarshal(value, &asked.All) != nil || asked.All == nil {
			return request.InvalidValue("want true or false", value, "body", "all")
		}
	}
	already := h.drainer.Begun()
	p := h.drainer.Start(r.Context(), asked)
	h.observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: "drain", N: 1})
	h.log.LogAttrs(r.Context(), slog.LevelInfo, "an operator requested a drain", slog.String("by", logText(by)), slog.Bool("already_draining", already), slog.Time("until", p.Until), slog.String("in_flight", p.String()))
	response.JSON(w, r, http.StatusAccepted, p)
	return nil
}

// readTimeout returns the optional time of a drain; 0: the default.
func readTimeout(body request.Object) (time.Duration, error) {
	if _, ok := body.Fields["timeout"]; !ok {
		return 0, nil
	}
	value, err := body.Text("timeout")
	if err != nil {
		return 0, err
	}
	d, err := protocol.ParseDuration(value)
	if err != nil || d <= 0 || d > drain.MaxTimeout {
		return 0, request.InvalidValue(fmt.Sprintf("want a duration of more than 0 and at most %d hours, such as 10m", int(drain.MaxTimeout.Hours())), body.Fields["timeout"], "body", "timeout")
	}
	return d, nil
}
