package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// HandlerOptions configure a Handler.
type HandlerOptions struct {
	// Nudge is called when a harness announces a task. It is usually Worker.Nudge and must not
	// block. Nil: with Decide, nudges are answered with status 422, because no task would be claimed;
	// without Decide, they are accepted and ignored.
	Nudge func()
	// Decide answers a whole task, for a harness without a queue. Nil: a whole task counts as a
	// nudge.
	Decide DecideFunc
	// Ready reports whether GET /health answers with status 200; otherwise it answers with 503.
	// Nil: always 200.
	Ready func() bool
	// MaxBytes limits the body of a request; 0 means 32 MiB with Decide, and 1 MiB without.
	MaxBytes int64
	// Version is sent with decisions as the version of the agent, as in protocol.AgentVersionHeader. Empty,
	// or not a version: none is sent. The harness keeps a track record of each version.
	Version string
	// Log receives the errors and panics of Decide, with the task's id; nil means [slog.Default].
	Log *slog.Logger
}

// NewHandler returns the HTTP handler of an agent: POST /task and GET /health. It does not
// authenticate requests. A nudge is a harmless hint. With Decide, however, every client that
// reaches the handler can send tasks for a decision.
func NewHandler(o HandlerOptions) http.Handler {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 20
		if o.Decide != nil {
			o.MaxBytes = defaultMaxTaskBytes
		}
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &handler{o}
}

type handler struct{ o HandlerOptions }

// wholeTasks answers a nudge of an agent that claims no tasks.
const wholeTasks = "Field required: this agent claims no tasks, it answers whole ones. Set `protocol: sync` for it in the configuration of foremand"

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	routes := map[string]struct {
		method string
		serve  func(http.ResponseWriter, *http.Request)
	}{
		"/task":   {http.MethodPost, h.task},
		"/health": {http.MethodGet, h.health},
	}
	route, ok := routes[strings.TrimSuffix(r.URL.Path, "/")]
	switch {
	case !ok:
		reply(w, http.StatusNotFound, detail{"Not Found"})
	case r.Method != route.method && (r.Method != http.MethodHead || route.method != http.MethodGet):
		w.Header().Set("Allow", route.method)
		reply(w, http.StatusMethodNotAllowed, detail{"Method Not Allowed"})
	default:
		route.serve(w, r)
	}
}

type (
	// A detail is an error in the form that harnesses and agents of this protocol use.
	detail struct {
		Detail any `json:"detail"`
	}
	// A status is a word in an answer.
	status struct {
		Status string `json:"status"`
	}
	// A field describes the problem with a part of a body.
	field struct {
		Type string   `json:"type"`
		Loc  []string `json:"loc"`
		Msg  string   `json:"msg"`
	}
)

func reply(w http.ResponseWriter, code int, body any) {
	data, err := protocol.Encode(body)
	if err != nil {
		code, data = http.StatusInternalServerError, []byte(`{"detail":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(data)
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	if h.o.Ready != nil && !h.o.Ready() {
		reply(w, http.StatusServiceUnavailable, status{"starting"})
		return
	}
	reply(w, http.StatusOK, status{"ok"})
}

func (h *handler) task(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxBytes))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		reply(w, http.StatusRequestEntityTooLarge, detail{"Request Entity Too Large"})
		return
	}
	if err != nil {
		reply(w, http.StatusBadRequest, detail{"the body broke off"})
		return
	}
	problem, whole := inspect(r.Header.Get("Content-Type"), data)
	switch {
	case problem != nil:
		reply(w, http.StatusUnprocessableEntity, detail{[]field{*problem}})
	case whole && h.o.Decide != nil:
		h.decide(w, r, data)
	case h.o.Decide != nil && h.o.Nudge == nil:
		reply(w, http.StatusUnprocessableEntity, detail{[]field{{protocol.CodeMissing, []string{"body", "payload"}, wholeTasks}}})
	default:
		if h.o.Nudge != nil {
			h.o.Nudge()
		}
		reply(w, http.StatusAccepted, status{"accepted"})
	}
}

// inspect returns the problem with the body of a request; nil: none. whole is true for a whole
// task and false for a nudge.
func inspect(contentType string, data []byte) (problem *field, whole bool) {
	if typ, _, err := mime.ParseMediaType(contentType); err != nil || typ != "application/json" {
		return &field{"dict_type", []string{"body"}, "Input should be a valid dictionary: want Content-Type application/json"}, false
	}
	if !json.Valid(data) {
		return &field{protocol.CodeJSON, []string{"body"}, "JSON decode error"}, false
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil || body == nil {
		return &field{"dict_type", []string{"body"}, "Input should be a valid dictionary"}, false
	}
	_, whole = body["payload"]
	switch id, ok := body["task_id"]; {
	case !ok && !whole:
		return &field{protocol.CodeMissing, []string{"body", "task_id"}, "Field required"}, false
	case ok && (len(id) == 0 || id[0] != '"'):
		return &field{protocol.CodeString, []string{"body", "task_id"}, "Input should be a valid string"}, false
	}
	return nil, whole
}

// decide answers a whole task with a decision on it.
func (h *handler) decide(w http.ResponseWriter, r *http.Request, data []byte) {
	task, err := protocol.ParseTask(data)
	if err != nil {
		reply(w, http.StatusUnprocessableEntity, detail{problemsOf(err)})
		return
	}
	if task.TaskID == "" {
		// The published models let the receiver choose the id. The same message gets the same id.
		task.TaskID = protocol.DeriveTaskID(string(data))
	}
	d, err := h.o.Decide.Decide(r.Context(), task)
	if err != nil {
		// The error is not sent, because it may contain a secret.
		h.o.Log.ErrorContext(r.Context(), "task not decided; answering with status 500", "task_id", task.TaskID, "error", err)
		reply(w, http.StatusInternalServerError, detail{"Internal Server Error"})
		return
	}
	if version := protocol.ParseAgentVersion(h.o.Version); version != "" {
		w.Header().Set(protocol.AgentVersionHeader, version)
	}
	reply(w, http.StatusOK, d)
}

func problemsOf(err error) []field {
	v, ok := errors.AsType[*protocol.ValidationError](err)
	if !ok {
		return []field{{protocol.CodeJSON, []string{"body"}, "JSON decode error"}}
	}
	var list []field
	for _, p := range v.Problems {
		list = append(list, field{p.Code, append([]string{"body"}, p.Path...), p.Msg})
	}
	return list
}
