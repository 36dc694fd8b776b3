package harness_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	repo      = "octo/hello"
	agentURL  = "http://agent:9001"
	token     = "ghs_0123456789secret"
	labelPost = "POST /repos/octo/hello/issues/%d/labels 200"
	talkPost  = "POST /repos/octo/hello/issues/%d/comments 201"
)

// A rig is what outlasts a Harness: the queue, the journal, the memory, and a fake GitHub. All of it
// runs in a bubble of package synctest. HTTP requests reach their handlers without a network.
type rig struct {
	t       *testing.T
	gh      *githubtest.Server
	queue   queue.Queue
	options harness.Options
	log     *strings.Builder
	version string // of the agent

	mu     sync.Mutex
	calls  int                     // requests to GitHub
	before func(n int)             // called before request n reaches GitHub; nil: not called
	after  func(n int) bool        // called after request n, and reports whether its answer is lost; nil: not called
	hosts  map[string]http.Handler // of agents and harnesses
}

// inBubble runs a test on a rig whose GitHub has issues 1 to 20.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	seen := gh.Repo(repo).AddLabel("docs", "bug")
	for n := 1; n <= 20; n++ {
		seen.AddIssue(githubtest.Issue{Number: n, Title: "It breaks", CreatedAt: time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)})
	}
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, gh: gh, queue: queue.New(queue.Options{}), hosts: map[string]http.Handler{}}
		logged := &lines{}
		r.log = &logged.text
		r.options = harness.Options{
			Queue: r.queue, Host: r.host, Memory: memory.New(), Journal: memory.NewJournal(), Transport: wire{r},
			Agents: []harness.Agent{{URL: agentURL}}, Log: slog.New(slog.NewTextHandler(logged, nil)),
		}
		test(t, r)
	})
}

// lines is a writer for several goroutines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (r *rig) host(context.Context, triage.Repo) (runner.Host, error) {
	c, err := github.New(github.Options{BaseURL: "http://github", Token: token, Transport: wire{r}})
	if err != nil {
		return runner.Host{}, err
	}
	return runner.HostOf(c), nil
}

// A wire is a transport that calls the handler of a host.
type wire struct{ r *rig }

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	r := w.r
	if req.Body == nil {
		req = req.Clone(req.Context())
		req.Body = http.NoBody
	}
	if req.URL.Host == "github" {
		r.mu.Lock()
		r.calls++
		n := r.calls
		r.mu.Unlock()
		if r.before != nil {
			r.before(n)
		}
		answer := httptest.NewRecorder()
		r.gh.ServeHTTP(answer, req)
		if r.after != nil && r.after(n) {
			return nil, io.ErrUnexpectedEOF
		}
		return answer.Result(), nil
	}
	r.mu.Lock()
	h := r.hosts[req.URL.Host]
	r.mu.Unlock()
	if h == nil {
		return nil, errors.New("connection refused")
	}
	answer := httptest.NewRecorder()
	served := req.Clone(req.Context())
	served.Host, served.RequestURI = "localhost", req.URL.RequestURI()
	h.ServeHTTP(answer, served)
	return answer.Result(), cmp.Or(req.Context().Err(), nil)
}

// start runs a Harness with the options of the rig under a host name. stop ends it; the end of the
// test does too.
func (r *rig) start(name string) (h *harness.Harness, stop func()) {
	r.t.Helper()
	h, err := harness.New(r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	r.mu.Lock()
	r.hosts[name] = h.Handler()
	r.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		h.Stop()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(stop)
	return h, stop
}

// work runs an agent that labels and comments on each issue, by way of the Harness with a name.
func (r *rig) work(name string, decide agent.DecideFunc) {
	r.t.Helper()
	c, err := agent.NewClient(agent.ClientOptions{URL: "http://" + name, AgentURL: agentURL, Wait: 30 * time.Second, Transport: wire{r}, Version: r.version})
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := agent.NewWorker(agent.WorkerOptions{Client: c, Decide: decide, Log: slog.New(slog.DiscardHandler), Concurrency: 4})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.hosts["agent:9001"] = agent.NewHandler(agent.HandlerOptions{Nudge: w.Nudge})
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
}

// decide returns a decision with a label and a comment.
func decide(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return protocol.DecisionMessage{
		Decision: protocol.LabelAndRespond, Rationale: "it is about the docs",
		Actions: []protocol.ActionItem{action(`{"type":"add_label","label":"docs"}`), action(`{"type":"comment","body":"Thank you."}`)},
	}, nil
}

func action(text string) (a protocol.ActionItem) {
	if err := a.UnmarshalJSON([]byte(text)); err != nil {
		panic(err) // of a constant of this file
	}
	return a
}

// opened returns the event of a newly opened issue.
func (r *rig) opened(issue int) triage.Delivery {
	r.t.Helper()
	payload := fmt.Sprintf(`{"action":"opened","repository":{"full_name":%q},"sender":{"login":"mona"},
		"issue":{"number":%d,"title":"It breaks","body":"so","state":"open","user":{"login":"mona"},"labels":[],
		"created_at":"1999-12-31T23:59:00Z","updated_at":"1999-12-31T23:59:00Z"}}`, repo, issue)
	e, err := triage.ParseEvent(triage.EventSource{Name: triage.EventIssues, Payload: []byte(payload)})
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// enqueue enqueues the event of an issue, and returns the result.
func (r *rig) enqueue(h *harness.Harness, issue int) harness.Enqueued {
	r.t.Helper()
	got, err := h.Enqueue(r.t.Context(), r.opened(issue), fmt.Sprintf("webhook:%d", issue))
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// settle lets an hour pass, in which all that can be done is done.
func settle() {
	time.Sleep(time.Hour) // of the bubble
	synctest.Wait()
}

// is fails the test unless the task has that state.
func (r *rig) is(task string, want queue.State) {
	r.t.Helper()
	d, err := r.queue.Inspect(r.t.Context(), task)
	if err != nil || d.State != want {
		r.t.Errorf("got %s (%s), %v, want %s\n%s", d.State, d.Reason, err, want, r.log)
	}
}

// wrote fails the test unless GitHub received exactly these writes, in any order.
func (r *rig) wrote(want ...string) {
	r.t.Helper()
	got := slices.DeleteFunc(r.gh.Log(), func(line string) bool { return strings.HasPrefix(line, "GET ") })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.t.Errorf("got writes %q, want %q\n%s", got, want, r.log)
	}
}

// drain reads a whole answer.
func drain(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}
