package agentcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// maxBody is the maximum size of an agent's request.
const maxBody = 8 << 20

// A harness is the kit's harness: a queue that records all requests of the agent. It is safe for
// concurrent use.
type harness struct {
	lease    time.Duration
	password string // the password that agents should send
	now      func() time.Time

	mu      sync.Mutex
	changed chan struct{} // closed and replaced by each request and each new task
	tasks   []*entry
	faults  map[string][]int // path: statuses of the next answers
	seen    counts
}

func newHarness(lease time.Duration, now func() time.Time) *harness {
	return &harness{lease: lease, now: now, changed: make(chan struct{}), faults: map[string][]int{}, seen: counts{problems: map[string]int{}}}
}

// record returns a copy of everything that was recorded so far.
func (h *harness) record() record {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := record{counts: h.seen, lease: h.lease}
	r.problems, r.agents, r.answers = maps.Clone(r.problems), slices.Clone(r.agents), slices.Clone(r.answers)
	for _, e := range h.tasks {
		r.tasks = append(r.tasks, e.clone())
	}
	return r
}

// add adds a task to the queue.
func (h *harness) add(task protocol.TaskMessage) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := &entry{task: task}
	h.tasks = append(h.tasks, e)
	h.signal()
	return e
}

// signal wakes the calls of wait. The caller has locked the harness.
func (h *harness) signal() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// last returns the task that was added last.
func (h *harness) last() *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tasks[len(h.tasks)-1]
}

// read returns a copy of an entry.
func (h *harness) read(e *entry) entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.clone()
}

// update changes an entry.
func (h *harness) update(e *entry, f func(e *entry)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(e)
}

// drop removes the tasks in list that are not claimed yet, so that the next check does not see
// them.
func (h *harness) drop(list ...*entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks = slices.DeleteFunc(h.tasks, func(e *entry) bool { return slices.Contains(list, e) && e.claimed.IsZero() })
}

// fault sets the statuses of the next answers at a path.
func (h *harness) fault(path string, statuses ...int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults[path] = statuses
}

// answered records the decision in the agent's answer to a whole task.
func (h *harness) answered(d protocol.DecisionMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.answers = append(h.seen.answers, d)
}

func (h *harness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.signal()
	h.seen.requests++
	if _, password, ok := r.BasicAuth(); ok && password == h.password {
		h.seen.authed++
	}
	status, body := h.answer(r, data, err)
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and for agents
}

// problem records a mistake in a request, and returns the answer to the request.
func (h *harness) problem(status int, format string, args ...any) (int, []byte) {
	text := fmt.Sprintf(format, args...)
	h.seen.problems[text]++
	body, err := protocol.Encode(map[string]string{"detail": text})
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, body
}

// A request contains the fields of all requests of agents.
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
		return h.problem(http.StatusNotFound, "it calls %s, which is not a path of a harness", short(r.URL.Path))
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
	if path == "/queue/next" {
		if status, problem := h.await(r, body.AgentURL); problem != nil {
			return status, problem
		}
	}
	if list := h.faults[path]; len(list) > 0 {
		h.faults[path] = list[1:]
		return list[0], []byte(`{"detail":"later"}`)
	}
	if path == "/queue/next" {
		return h.next()
	}
	h.seen.attempts = h.seen.attempts || body.Attempt > 0
	var id string
	if json.Unmarshal(body.TaskID, &id) != nil || len(body.TaskID) == 0 {
		return h.problem(http.StatusUnprocessableEntity, "its body for %s has no task_id that is a string", path)
	}
	return h.change(path, id, body.Attempt, data)
}

// maxWait is the longest time that an agent can wait for a task, as in a harness.
const maxWait = 50 * time.Second

// await records a claim, and waits for a task as long as the agent requests. It returns the answer
// to a request with a mistake. The caller has locked the harness, which await unlocks meanwhile.
func (h *harness) await(r *http.Request, agent *string) (int, []byte) {
	if agent == nil {
		return h.problem(http.StatusUnprocessableEntity, "its body for /queue/next has no agent_url that is a string")
	}
	var d time.Duration
	if value := r.URL.Query().Get("wait"); value != "" {
		var err error
		if d, err = protocol.ParseDuration(value); err != nil || d < 0 {
			return h.problem(http.StatusUnprocessableEntity, "its parameter wait for /queue/next is not a duration such as 30s")
		}
	}
	h.seen.claims++
	if !slices.Contains(h.seen.agents, *agent) {
		h.seen.agents = append(h.seen.agents, *agent)
	}
	if d == 0 {
		return 0, nil
	}
	h.signal()
	h.mu.Unlock()
	h.wait(r.Context(), min(d, maxWait), func() bool { return h.pending() != nil })
	h.mu.Lock()
	if r.Context().Err() != nil {
		return http.StatusServiceUnavailable, []byte(`{"detail":"the connection was closed"}`)
	}
	return 0, nil
}

// pending returns the first task that can be claimed; nil: there is none.
func (h *harness) pending() *entry {
	i := slices.IndexFunc(h.tasks, func(e *entry) bool { return e.claimed.IsZero() && len(e.decisions) == 0 })
	if i < 0 {
		return nil
	}
	return h.tasks[i]
}

// next hands out a task.
func (h *harness) next() (int, []byte) {
	if e := h.pending(); e != nil {
		e.claimed = h.now()
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

// change handles a heartbeat, a decision or the report of a result.
func (h *harness) change(path, id string, attempt int, data []byte) (int, []byte) {
	if path == "/harness/result" {
		h.seen.results++
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
		e.beats = append(e.beats, h.now())
		return status, nil
	}
	m, err := protocol.ParseDecision(data)
	if err != nil {
		v, ok := errors.AsType[*protocol.ValidationError](err)
		text := "it is not a decision"
		if ok && len(v.Problems) > 0 {
			text = strings.Join(v.Problems[0].Path, ".") + ": " + v.Problems[0].Msg
		}
		e.refused = "its decision is not of the right form: " + short(text)
		return http.StatusUnprocessableEntity, nil
	}
	e.decisions = append(e.decisions, decision{h.now(), status, m})
	return status, nil
}

// A withExtras is a task with an additional field, as newer harnesses may send. Agents must
// ignore it.
type withExtras struct{ task protocol.TaskMessage }

// MarshalJSON implements json.Marshaler.
func (t withExtras) MarshalJSON() ([]byte, error) {
	data, err := protocol.Encode(t.task)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"a_later_field":{"is":["not","yours"]},`), data[1:]...), nil
}

// wait waits until ok is true, for d at most, and returns the last result of ok. It calls ok
// while the harness is locked.
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

// maxShort is how many characters of foreign text are in a report. An error on a decision lists the
// valid ones before the invalid one.
const maxShort = 400

// short makes foreign text printable and cuts it to maxShort characters.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return text.Shorten(s, maxShort)
}
