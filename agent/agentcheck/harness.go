package agentcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
)

// maxBody bounds what an agent may send.
const maxBody = 8 << 20

// A harness is a queue that keeps a record of everything.
type harness struct {
	lease    time.Duration
	password string // that agents should send

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew by each request
	tasks    []*entry
	faults   map[string][]int // path: statuses of the next answers
	problems map[string]int   // what was wrong with requests, and how often
	agents   []string         // agent_url of the claims
	claims   int
	results  int  // calls of /harness/result
	authed   int  // requests with the credential
	requests int  // all of them
	attempts bool // the agent echoes attempts
}

// An entry is a task and what the agent did with it.
type entry struct {
	task      protocol.TaskMessage
	claimed   time.Time // zero: not yet
	beats     []time.Time
	decisions []decision
	refused   string // what was wrong with the form of a decision; empty: nothing
	lost      bool   // the claim is taken away
	excused   bool   // that it stays open is the kit's doing
}

// A decision is one that was sent in.
type decision struct {
	at      time.Time
	status  int // that it was answered with
	message protocol.DecisionMessage
}

func newHarness(lease time.Duration) *harness {
	return &harness{lease: lease, changed: make(chan struct{}), faults: map[string][]int{}, problems: map[string]int{}}
}

func (h *harness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() {
		close(h.changed)
		h.changed = make(chan struct{})
	}()
	h.requests++
	if _, password, ok := r.BasicAuth(); ok && password == h.password {
		h.authed++
	}
	status, body := h.answer(r, data, err)
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and for agents
}

// problem notes something wrong with a request, and returns its answer.
func (h *harness) problem(status int, format string, args ...any) (int, []byte) {
	text := fmt.Sprintf(format, args...)
	h.problems[text]++
	body, err := protocol.Encode(map[string]string{"detail": text})
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, body
}

// A request is what agents send, all fields in one.
type request struct {
	AgentURL *string         `json:"agent_url"`
	TaskID   json.RawMessage `json:"task_id"`
	Attempt  int             `json:"attempt"`
}

func (h *harness) answer(r *http.Request, data []byte, err error) (int, []byte) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	paths := []string{"/queue/next", "/queue/complete", "/queue/heartbeat", "/harness/result"}
	var body request
	switch {
	case !slices.Contains(paths, path) || path != r.URL.Path:
		return h.problem(http.StatusNotFound, "it calls %s, which is no path of a harness", short(r.URL.Path))
	case r.Method != http.MethodPost:
		return h.problem(http.StatusMethodNotAllowed, "it calls %s with %s, not POST", path, short(r.Method))
	case err != nil:
		return h.problem(http.StatusBadRequest, "its body for %s broke off, or was too large", path)
	}
	if typ, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || typ != "application/json" {
		return h.problem(http.StatusUnprocessableEntity, "it calls %s with Content-Type %q, not application/json", path, short(r.Header.Get("Content-Type")))
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return h.problem(http.StatusUnprocessableEntity, "its body for %s is not JSON of the right form", path)
	}
	if list := h.faults[path]; len(list) > 0 {
		h.faults[path] = list[1:]
		return list[0], []byte(`{"detail":"later"}`)
	}
	if path == "/queue/next" {
		return h.next(body.AgentURL)
	}
	h.attempts = h.attempts || body.Attempt > 0
	var id string
	if json.Unmarshal(body.TaskID, &id) != nil || len(body.TaskID) == 0 {
		return h.problem(http.StatusUnprocessableEntity, "its body for %s has no task_id that is a string", path)
	}
	return h.change(path, id, body.Attempt, data)
}

func (h *harness) next(agent *string) (int, []byte) {
	if agent == nil {
		return h.problem(http.StatusUnprocessableEntity, "its body for /queue/next has no agent_url that is a string")
	}
	h.claims++
	if !slices.Contains(h.agents, *agent) {
		h.agents = append(h.agents, *agent)
	}
	for _, e := range h.tasks {
		if !e.claimed.IsZero() || len(e.decisions) > 0 {
			continue
		}
		e.claimed = time.Now()
		task := e.task
		task.Claim = &protocol.TaskClaim{Attempt: 1, Lease: int((h.lease + time.Second - 1) / time.Second)}
		body, err := protocol.Encode(withExtras{task})
		if err != nil {
			return http.StatusInternalServerError, nil
		}
		return http.StatusOK, body
	}
	return http.StatusNoContent, nil
}

// change takes a heartbeat, a decision or the word of one.
func (h *harness) change(path, id string, attempt int, data []byte) (int, []byte) {
	if path == "/harness/result" {
		h.results++
		return http.StatusAccepted, nil
	}
	i := slices.IndexFunc(h.tasks, func(e *entry) bool { return e.task.TaskID == id })
	if i < 0 || h.tasks[i].claimed.IsZero() {
		h.problem(0, "it calls %s for a task that it has not claimed", path)
		if i < 0 || path == "/queue/heartbeat" {
			return http.StatusAccepted, nil
		}
	}
	e := h.tasks[i]
	status := http.StatusAccepted
	if attempt > 0 && (e.lost || attempt != 1) {
		status = http.StatusConflict
	}
	if path == "/queue/heartbeat" {
		e.beats = append(e.beats, time.Now())
		return status, nil
	}
	m, err := protocol.ParseDecision(data)
	if err != nil {
		v, ok := errors.AsType[*protocol.ValidationError](err)
		text := "it is no decision"
		if ok && len(v.Problems) > 0 {
			text = strings.Join(v.Problems[0].Path, ".") + ": " + v.Problems[0].Msg
		}
		e.refused = "its decision is not of the right form: " + short(text)
		return http.StatusUnprocessableEntity, nil
	}
	e.decisions = append(e.decisions, decision{time.Now(), status, m})
	return status, nil
}

// withExtras is a task with a field that no agent knows: newer harnesses add some.
type withExtras struct{ task protocol.TaskMessage }

// MarshalJSON implements json.Marshaler.
func (t withExtras) MarshalJSON() ([]byte, error) {
	data, err := protocol.Encode(t.task)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"a_later_field":{"is":["not","yours"]},`), data[1:]...), nil
}

// wait waits until ok, which is called locked, for d at most; it returns what ok does.
func (h *harness) wait(ctx context.Context, d time.Duration, ok func() bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		h.mu.Lock()
		done, changed := ok(), h.changed
		h.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// short makes foreign text fit to be shown.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if list := []rune(text); len(list) > 120 {
		text = string(list[:120]) + "…"
	}
	return text
}
