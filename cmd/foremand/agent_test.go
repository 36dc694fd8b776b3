package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/testkit/freeport"
)

func agentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agent FILE|stop|page|start|paged COUNT|hold|go|tasks COUNT|told N PATTERN")
	}
	a := rigOf(ts).agent
	switch args[0] {
	case "stop", "start":
		a.mu.Lock()
		a.down, a.page = args[0] == "stop", false
		a.mu.Unlock()
	case "page":
		a.mu.Lock()
		a.page = true
		a.mu.Unlock()
	case "paged":
		await(ts, "agent paged "+args[1], func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.pages >= number(ts, args[1])
		})
	case "tasks":
		await(ts, "agent tasks "+args[1], func() bool { // at least that many
			a.mu.Lock()
			defer a.mu.Unlock()
			return len(a.tasks) >= number(ts, args[1])
		})
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.tasks) != number(ts, args[1]) || len(a.errs) > 0 {
			ts.Fatalf("%d tasks decided, want %s: %v %v", len(a.tasks), args[1], a.tasks, a.errs)
		}
	case "told":
		a.mu.Lock()
		defer a.mu.Unlock()
		if n := number(ts, args[1]); n > len(a.told) || !regexp.MustCompile(args[2]).MatchString(a.told[n-1]) {
			ts.Fatalf("told %q, want of task %d: %s", a.told, n, args[2])
		}
	case "hold":
		ts.Defer(a.letGo)
		a.mu.Lock()
		a.hold = make(chan struct{})
		a.mu.Unlock()
	case "go":
		a.letGo()
	case "sync":
		a.mu.Lock()
		a.sync = true
		a.mu.Unlock()
	case "secret":
		a.mu.Lock()
		a.user = args[1] + ":" + args[2] + "@"
		a.mu.Unlock()
	default:
		r := rigOf(ts)
		a = &scriptAgent{answer: strings.TrimSpace(ts.ReadFile(args[0])), url: func() string { at, _ := r.url.Load().(string); return at }}
		srv := httptest.NewServer(a)
		ts.Defer(srv.Close)
		rigOf(ts).agent = a
		ts.Setenv("AGENT", srv.URL)
		ts.Setenv("AGENT_AT", strings.TrimPrefix(srv.URL, "http://"))
	}
}

// A scriptAgent behaves like a published agent: when nudged, it claims tasks until none is left,
// and completes each one with the same decision.
type scriptAgent struct {
	mu     sync.Mutex
	answer string
	url    func() string // of the harness
	user   string        // userinfo of its address, with "@"; empty: none
	down   bool
	page   bool          // answer with a maintenance page instead of a decision
	pages  int           // number of tasks answered with the maintenance page
	sync   bool          // send the decision in the response to the task
	hold   chan struct{} // decisions wait until it is closed; nil: they are sent at once
	tasks  []string      // ids, in the order of arrival
	told   []string      // the memory summaries of them
	errs   []string
}

// letGo closes hold, so that the agent sends its waiting decisions.
func (a *scriptAgent) letGo() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hold != nil {
		close(a.hold)
		a.hold = nil
	}
}

// think decides on a task.
func (a *scriptAgent) think(id, told string) string {
	a.mu.Lock()
	answer, hold := strings.ReplaceAll(a.answer, "$TASK", id), a.hold
	a.tasks, a.told = append(a.tasks, id), append(a.told, told)
	a.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return answer
}

func (a *scriptAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	down, page, whole := a.down, a.page, a.sync
	if page && r.Method == http.MethodPost {
		a.pages++
	}
	a.mu.Unlock()
	switch {
	case page:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html>\n<title>Down for maintenance</title>")
	case down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/health":
		fmt.Fprint(w, `{"status":"ok"}`)
	case whole:
		a.decide(w, r)
	default:
		w.WriteHeader(http.StatusAccepted)
		go a.work("http://" + r.Host)
	}
}

// decide answers the task that a request holds.
func (a *scriptAgent) decide(w http.ResponseWriter, r *http.Request) {
	var task struct {
		ID      string          `json:"task_id"`
		Payload json.RawMessage `json:"payload"`
		Context summary         `json:"context"`
	}
	if err := json.NewDecoder(r.Body).Decode(&task); err != nil || len(task.Payload) == 0 {
		http.Error(w, "want a whole task", http.StatusUnprocessableEntity)
		return
	}
	answer := a.think(task.ID, task.Context.Text)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// work claims and decides until there is no task.
func (a *scriptAgent) work(own string) {
	for a.one(own) {
	}
}

func (a *scriptAgent) one(own string) bool {
	post := func(path string, body any) (int, []byte) {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil
		}
		a.mu.Lock()
		at := strings.Replace(a.url(), "://", "://"+a.user, 1)
		a.mu.Unlock()
		resp, err := http.Post(at+path, "application/json", bytes.NewReader(data))
		if err != nil {
			return 0, nil // the harness is down and will nudge again later
		}
		defer resp.Body.Close()
		data, _ = io.ReadAll(resp.Body)
		return resp.StatusCode, data
	}
	code, data := post("/queue/next", map[string]string{"agent_url": own})
	var task struct {
		ID      string  `json:"task_id"`
		Context summary `json:"context"`
	}
	if code != http.StatusOK || json.Unmarshal(data, &task) != nil {
		return false
	}
	answer := a.think(task.ID, task.Context.Text)
	if code, data := post("/queue/complete", json.RawMessage(answer)); code != http.StatusAccepted {
		a.mu.Lock()
		a.errs = append(a.errs, fmt.Sprintf("complete: %d %s", code, data))
		a.mu.Unlock()
	}
	post("/harness/result", map[string]string{"task_id": task.ID})
	return true
}

// A summary is the part of a task that summarizes earlier tasks.
type summary struct {
	Text string `json:"memory_summary"`
}

// pythonCommand starts the agent in testdata/agents. It is written after the wire's specification
// and behaves like the published agent.
func pythonCommand(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) > 1:
		ts.Fatalf("usage: python [USERINFO]")
	case len(args) == 0:
		at, err := freeport.Find(context.Background())
		ts.Check(err)
		ts.Setenv("AGENT", "http://"+at.String())
		return
	}
	source, err := filepath.Abs("../../testdata/agents/agent.py")
	ts.Check(err)
	cmd := exec.Command("python3", source)
	cmd.Env = append(os.Environ(), "AGENT_URL="+ts.Getenv("AGENT"), "FOREMAN_HARNESS_URL="+strings.Replace(ts.Getenv("URL"), "://", "://"+args[0]+"@", 1))
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}
