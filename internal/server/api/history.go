package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/export"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

// A historyHandler shows operators what became of tasks.
type historyHandler struct {
	filter   filter.Parser
	queue    queue.Queue
	history  history.Store // nil: not found
	stopping <-chan struct{}
	log      *slog.Logger
}

// series answers with the counts of a range of time.
func (h *historyHandler) series(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.history == nil {
		return &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	q, err := filter.ParseHistory(r.URL.Query())
	if err != nil {
		return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	}
	s, err := h.history.Read(r.Context(), q)
	if err != nil {
		return err
	}
	response.JSON(w, r, http.StatusOK, s)
	return nil
}

// export streams the tasks that match a filter as JSON lines. After an error it breaks the
// connection, so that the client does not take the lines for all tasks.
func (h *historyHandler) export(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	values := r.URL.Query()
	payload := false
	if s := values.Get("payload"); s != "" {
		var err error
		if payload, err = strconv.ParseBool(s); err != nil {
			return &response.Error{Status: http.StatusUnprocessableEntity, Detail: "payload: want true or false"}
		}
	}
	values.Del("payload")
	f, err := h.filter.ParseAll(values)
	if err != nil {
		return &response.Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/jsonl")
		return nil
	}
	control := http.NewResponseController(w)
	begun := false
	extend := func() error {
		select {
		case <-h.stopping:
			return http.ErrServerClosed
		default:
		}
		// The deadline of the server is for whole answers. Here it is for each page of tasks.
		_ = control.SetWriteDeadline(time.Now().Add(request.Timeout)) // the writers of some tests have no connection
		if !begun {
			begun = true
			return nil
		}
		return control.Flush()
	}
	if err := extend(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	got, err := export.Write(r.Context(), w, h.queue, export.Options{Filter: f, Payload: payload, Flush: extend})
	if err == nil {
		return nil
	}
	if got.Lines == 0 {
		w.Header().Del("Content-Type")
		return err // nothing was sent yet
	}
	h.log.WarnContext(r.Context(), "an export of tasks ended early; continue it with before", "lines", got.Lines, "before", got.Last, "error", err)
	panic(http.ErrAbortHandler)
}
