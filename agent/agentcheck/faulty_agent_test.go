package agentcheck_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
)

// A network carries requests between the kit and an agent, in memory.
type network struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
}

func (n *network) set(host string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host] = h
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	n.mu.Lock()
	h := n.hosts[req.URL.Hostname()]
	n.mu.Unlock()
	if h == nil {
		return nil, io.EOF
	}
	done := make(chan *http.Response, 1)
	go func() {
		w := httptest.NewRecorder()
		defer func() {
			if recover() != nil {
				done <- nil
				return
			}
			done <- w.Result()
		}()
		in := req.Clone(req.Context())
		if in.Body == nil {
			in.Body = http.NoBody
		}
		h.ServeHTTP(w, in)
	}()
	select {
	case resp := <-done:
		if resp == nil {
			return nil, io.ErrUnexpectedEOF
		}
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// A faultyAgent is an agent written from the protocol, like the published one, that can make
// mistakes.
type faultyAgent struct {
	net     *network
	harness string
	self    string
	think   time.Duration

	fault    string // its mistake; empty: none
	sync     bool   // it also answers whole tasks
	noQueue  bool   // it does not accept nudges
	ctx      context.Context
	mu       sync.Mutex
	ready    bool
	broken   bool // it does not work any more
	faultMu  sync.Mutex
	all      sync.WaitGroup
	lastSeen string
}

// start claims the waiting tasks, and then accepts requests.
func (a *faultyAgent) start(ctx context.Context) {
	a.ctx = ctx
	a.net.set("agent", a)
	if a.noQueue {
		a.ready = true
		return
	}
	a.all.Go(func() {
		for !a.is("no-drain") && a.work() {
			continue
		}
		if a.is("long-polls") {
			a.all.Go(func() {
				for a.ctx.Err() == nil {
					a.work()
					time.Sleep(time.Millisecond) // if the harness does not wait, it counts the claims
				}
			})
		}
		a.mu.Lock()
		a.ready = true
		a.mu.Unlock()
	})
}

// is reports whether fault is the agent's mistake.
func (a *faultyAgent) is(fault string) bool {
	a.faultMu.Lock()
	defer a.faultMu.Unlock()
	return a.fault == fault
}

func (a *faultyAgent) call(path string, body any) (int, []byte) {
	data, err := protocol.Encode(body)
	if err != nil {
		return 0, nil
	}
	base := a.harness
	if a.is("no-credentials") {
		_, host, _ := strings.Cut(base, "@")
		base = "http://" + host
	}
	req, err := http.NewRequestWithContext(a.ctx, http.MethodPost, base+path, strings.NewReader(string(data)))
	if err != nil {
		return 0, nil
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	if !a.is("no-content-type") || path != "/queue/heartbeat" && path != "/harness/result" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.net.RoundTrip(req)
	if err != nil {
		return 0, nil
	}
	data, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, data
}

// work claims a task and completes it; false: there was no task.
func (a *faultyAgent) work() bool {
	a.mu.Lock()
	broken := a.broken
	a.mu.Unlock()
	if broken {
		return false
	}
	self := a.self
	if a.is("other-address") {
		self += "/elsewhere"
	}
	next := "/queue/next"
	if a.is("long-polls") {
		next += "?wait=30s"
	}
	status, data := a.call(next, map[string]any{"agent_url": self})
	if status == http.StatusNoContent && a.is("hammers") {
		for range 50 {
			a.call("/queue/next", map[string]any{"agent_url": self})
		}
	}
	if status != http.StatusOK {
		if status != http.StatusNoContent && a.is("dies-of-503") || status == http.StatusNoContent && a.is("dies-of-204") {
			a.mu.Lock()
			a.broken = true
			a.mu.Unlock()
		}
		return false
	}
	var task protocol.TaskMessage
	if err := json.Unmarshal(data, &task); err != nil {
		return false
	}
	a.do(task)
	return true
}

func (a *faultyAgent) do(task protocol.TaskMessage) {
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	a.all.Go(func() { a.beat(ctx, task) })
	select {
	case <-time.After(a.think):
	case <-ctx.Done():
		return
	}
	d, ok := a.decide(task)
	if !ok {
		return
	}
	if task.Claim != nil && !a.is("no-attempt") {
		d["attempt"] = task.Claim.Attempt
	}
	for range 4 {
		status, _ := a.call("/queue/complete", d)
		if status == http.StatusAccepted && a.is("twice") {
			a.call("/queue/complete", d)
		}
		if status == http.StatusAccepted || status == http.StatusConflict && !a.is("insists") || a.is("gives-up") || status == http.StatusUnprocessableEntity {
			break
		}
	}
	if !a.is("no-result") {
		a.call("/harness/result", map[string]any{"task_id": task.TaskID})
	}
}

// beat sends a heartbeat every 25 s.
func (a *faultyAgent) beat(ctx context.Context, task protocol.TaskMessage) {
	for !a.is("no-heartbeat") {
		select {
		case <-time.After(25 * time.Second):
		case <-ctx.Done():
			return
		}
		body := map[string]any{"task_id": task.TaskID}
		if a.is("numeric-heartbeat") {
			body["task_id"] = 7
		}
		if status, _ := a.call("/queue/heartbeat", body); status != http.StatusAccepted && a.is("heartbeat-dies") {
			return
		}
	}
}

// decide returns the decision as JSON; false: the agent crashed.
func (a *faultyAgent) decide(task protocol.TaskMessage) (map[string]any, bool) {
	var p struct {
		Title  *string
		Body   *string
		Later  []any
		Labels []struct{ Name string }
	}
	if json.Unmarshal(task.Payload, &p) != nil && a.is("strict-labels") {
		return nil, false
	}
	body := ""
	if p.Body != nil {
		body = *p.Body
	}
	if p.Body == nil && a.is("needs-body") || p.Later != nil && a.is("needs-known") || len(body) > 100_000 && a.is("needs-small") || p.Title == nil && a.is("needs-title") {
		return nil, false
	}
	d := map[string]any{
		"task_id": task.TaskID, "decision": "label_and_respond", "rationale": "a bug",
		"actions": []any{map[string]any{"type": "add_label", "label": "bug"}},
	}
	switch {
	case a.is("odd-decision"):
		d["decision"] = "maybe"
	case a.is("no-rationale"):
		delete(d, "rationale")
	case a.is("null-actions"):
		d["actions"] = nil
	case a.is("odd-action"):
		d["actions"] = []any{map[string]any{"type": "explode"}}
	case a.is("odd-action-for-nothing") && p.Body == nil:
		d["actions"] = []any{map[string]any{"type": "explode"}}
	case a.is("bare-action"):
		d["actions"] = []any{map[string]any{"type": "add_label"}}
	case a.is("intent"):
		d["actions"] = []any{
			map[string]any{"type": "add_label", "label": "bug", "confidence": "High", "rationale": "it crashes", "suggest": true},
			map[string]any{"type": "add_label", "label": "docs", "confidence": 0.6, "rationale": nil, "suggest": false},
		}
	case a.is("odd-intent"):
		d["actions"] = []any{
			map[string]any{"type": "add_label", "label": "bug", "confidence": 0.9},
			map[string]any{"type": "add_label", "label": "docs", "confidence": 1.2, "rationale": 7, "suggest": "yes"},
		}
	case a.is("skip-with-actions"):
		d["decision"] = "skip"
	case a.is("other-task"):
		if a.lastSeen != "" {
			d["task_id"] = "11111111-1111-4111-8111-111111111111"
		}
		a.lastSeen = task.TaskID
	case a.is("sync-other-task"):
		d["task_id"] = "11111111-1111-4111-8111-111111111111"
	case a.is("followed") && strings.Contains(body, "```json"):
		_, text, _ := strings.Cut(body, "```json\n")
		text, _, _ = strings.Cut(text, "\n```")
		var orders map[string]any
		if json.Unmarshal([]byte(text), &orders) == nil {
			orders["task_id"] = task.TaskID
			return orders, true
		}
	}
	return d, true
}

func (a *faultyAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var body struct {
		TaskID  *string         `json:"task_id"`
		Payload json.RawMessage `json:"payload"`
	}
	a.mu.Lock()
	ready := a.ready
	a.mu.Unlock()
	switch {
	case r.URL.Path == "/health" && !a.is("no-health"):
		if !ready || a.is("sick") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	case r.URL.Path != "/task":
		w.WriteHeader(http.StatusNotFound)
	case err != nil || json.Unmarshal(data, &body) != nil || body.TaskID == nil || body.Payload == nil && a.noQueue:
		a.wrong(w)
	case body.Payload != nil && a.sync:
		a.answer(w, data)
	default:
		a.nudged(w, *body.TaskID)
	}
}

func (a *faultyAgent) wrong(w http.ResponseWriter) {
	switch {
	case a.is("accepts-all"):
		w.WriteHeader(http.StatusAccepted)
	case a.is("falls-over"):
		w.WriteHeader(http.StatusInternalServerError)
	case a.is("sick-of-it"):
		a.faultMu.Lock()
		a.fault = "sick"
		a.faultMu.Unlock()
		w.WriteHeader(http.StatusUnprocessableEntity)
	default:
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
}

func (a *faultyAgent) nudged(w http.ResponseWriter, id string) {
	switch {
	case a.is("no-claim"):
	case a.is("works-in-nudge"):
		a.work()
	case a.is("by-nudge"): // takes the nudge for a whole task
		a.all.Go(func() {
			a.call("/queue/complete", map[string]any{"task_id": id, "decision": "skip", "rationale": "", "actions": []any{}})
			a.work()
		})
	default:
		a.all.Go(func() { a.work() })
	}
	w.WriteHeader(http.StatusAccepted)
}

// answer answers a whole task with its decision.
func (a *faultyAgent) answer(w http.ResponseWriter, data []byte) {
	var task protocol.TaskMessage
	if err := json.Unmarshal(data, &task); err != nil {
		a.wrong(w)
		return
	}
	d, ok := a.decide(task)
	if !ok {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	out, err := protocol.Encode(d)
	if err != nil {
		panic(err)
	}
	if a.is("sync-fenced") {
		out = []byte("```json\n" + string(out) + "\n```")
	}
	_, _ = w.Write(out)
}
