package background_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/background"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
)

const (
	repo      = "octo/hello"
	agentURL  = "http://agent:9001"
	token     = "ghs_0123456789secret"
	addLabel  = `{"type":"add_label","label":"docs"}`
	comment   = `{"type":"comment","body":"hello"}`
	closeIt   = `{"type":"close_issue"}`
	nonsense  = `{"type":"launch_rocket"}`
	labelPost = "POST /repos/octo/hello/issues/%d/labels 200"
	talkPost  = "POST /repos/octo/hello/issues/%d/comments 201"
	issueEdit = "PATCH /repos/octo/hello/issues/%d 200"
)

// A rig is the services with a queue in memory, a fake GitHub, and agents. All run in a bubble of
// package synctest. The fake's listener is outside the bubble, so calls reach the fake directly.
type rig struct {
	t       *testing.T
	gh      *githubtest.Server
	q       queue.Queue
	config  string
	host    *hosts
	slow    time.Duration             // how long GitHub takes for a call
	hold    *rest.Hold                // of the account; nil: none
	labels  *github.Labels            // that the server remembers; nil: none
	onWrite func(*http.Request) error // called before GitHub receives a write
	journal memory.Journal
	store   memory.Store
	o       background.Options
	logged  strings.Builder
	mu      sync.Mutex
	seen    []observe.Observation
	sent    []string // the methods of the requests to GitHub, when they begin
}

// inBubble runs a test on a rig with everything in memory.
func inBubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	onRig(t, test, func(*rig) {})
}

// onBoth runs a test on a rig with everything in memory, and on one with it in a file, whose parts are
// stored separately.
func onBoth(t *testing.T, test func(r *rig)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		inBubble(t, test)
	})
	onSQLite(t, "sqlite", test, func(*rig, *sqlite.Store) {})
}

// onAll is onBoth, and runs the test on a third rig: everything is in a file, and each step of a decision
// is one transaction.
func onAll(t *testing.T, test func(r *rig)) {
	t.Helper()
	onBoth(t, test)
	onSQLite(t, "sqlite, one transaction", test, func(r *rig, s *sqlite.Store) { r.o.Executor.Progress = s })
}

// onSQLite runs a test on a rig with everything in a file, after applying change.
func onSQLite(t *testing.T, name string, test func(r *rig), change func(*rig, *sqlite.Store)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" {
			t.Skip("on Windows SQLite waits for a lock with time.Sleep, which advances the clock of synctest")
		}
		onRig(t, test, func(r *rig) {
			s, err := sqlite.Open(r.t.Context(), filepath.Join(r.t.TempDir(), "foreman.db"), sqlite.Options{Now: time.Now})
			if err != nil {
				r.t.Fatal(err)
			}
			r.t.Cleanup(func() {
				if err := s.Close(); err != nil {
					r.t.Error(err)
				}
			})
			r.q, r.store, r.journal, r.o.Executor.Slots, r.o.Executor.Pauses = s.Queue(), s.Memory(), s.Journal(), s.Slots(), s.Pauses()
			change(r, s)
		})
	})
}

// progress returns what stores the steps of the rig's decisions.
func (r *rig) progress() store.Progress {
	if p := r.o.Executor.Progress; p != nil {
		return p
	}
	return store.Parts{Queue: r.q, Slots: r.o.Executor.Slots, Journal: r.journal, Memory: r.store}
}

// onRig runs a test on a rig after applying change.
func onRig(t *testing.T, test, change func(r *rig)) {
	t.Helper()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	repo := gh.Repo(repo).AddLabel("bug", "docs")
	for n := 1; n <= 60; n++ {
		repo.AddIssue(githubtest.Issue{Number: n, CreatedAt: time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)})
	}
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Options{})
		r := &rig{t: t, gh: gh, q: q, o: background.Options{Executor: executor.Options{Slots: queue.NewSlots(queue.Options{}), Pauses: q}}, journal: memory.NewJournal(), store: memory.New(), host: &hosts{known: map[string]http.HandlerFunc{}}}
		change(r)
		test(r)
	})
}

// options returns the options of the rig's services.
func (r *rig) options() background.Options {
	r.t.Helper()
	o := r.o
	o.Queue, o.Owner, o.Executor.Memory, o.Executor.Journal, o.Dispatch.Transport = r.q, "here", r.store, r.journal, r.host
	o.Executor.Random = func() float64 { return 1 }
	o.Log = slog.New(slog.NewTextHandler(r, nil))
	o.Observe = func(s observe.Observation) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, s)
	}
	if o.Cursors == nil {
		o.Cursors = &marks{}
	}
	if o.Executor.Settings == nil {
		o.Executor.Settings = r.settings
	}
	if o.Dispatch.Agents == nil {
		o.Dispatch.Agents = func(address string) (dispatch.Agent, bool) { return dispatch.Agent{URL: address}, true }
	}
	return o
}

// Write adds a line to the log.
func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.logged.Write(p)
}

func (r *rig) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.logged.String()
}

// requests counts the requests to GitHub that have begun, and the writes among them.
func (r *rig) requests() (all, writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, method := range r.sent {
		if method != http.MethodGet {
			writes++
		}
	}
	return len(r.sent), writes
}

// observed counts the observed events of a kind that have a status.
func (r *rig) observed(event observe.Event, status string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, s := range r.seen {
		if s.Event == event && s.Status == status {
			n += s.N
		}
	}
	return n
}

func (r *rig) settings(_ context.Context, name, _ string) (executor.Settings, error) {
	if name != repo {
		return executor.Settings{}, fmt.Errorf("%s: %w", name, executor.ErrUnknownRepo)
	}
	c, err := config.Parse("foreman.yml", []byte("version: 1\n"+r.config), nil)
	if err != nil {
		return executor.Settings{}, err
	}
	host, err := github.New(github.Options{BaseURL: "http://github.test", Token: token, Transport: direct{r}, Hold: r.hold})
	if err != nil {
		return executor.Settings{}, err
	}
	host = host.Remembering(r.labels)
	all := runner.HostOf(host)
	all.KnownLabel = host.KnownLabel
	return executor.Settings{Config: c, Host: all, Identity: "bot"}, nil
}

// start runs services. stop stops them; the end of the test does too.
func (r *rig) start() (d *background.Services, stop func()) {
	r.t.Helper()
	d, err := background.New(r.options())
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(stop)
	return d, stop
}

// id returns the id of the task about an issue.
func id(issue int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", issue) }

// message returns the message of a task for a newly opened issue.
func (r *rig) message(issue int) []byte {
	r.t.Helper()
	payload := fmt.Sprintf(`{"action":"opened","repository":{"full_name":%q},"sender":{"login":"mona"},
		"issue":{"number":%d,"title":"It breaks","body":"so","state":"open","user":{"login":"mona"},"labels":[],
		"created_at":"1999-12-31T23:59:00Z","updated_at":"1999-12-31T23:59:00Z"}}`, repo, issue)
	e, err := triage.ParseEvent(triage.EventSource{Name: triage.EventIssues, Payload: []byte(payload)})
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := runner.Task(e, runner.TaskSpec{ID: id(issue)})
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := protocol.Encode(m)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// enqueue adds a task for an issue, after applying change.
func (r *rig) enqueue(issue int, change ...func(*queue.Task)) {
	r.t.Helper()
	t := queue.Task{ID: id(issue), Agent: agentURL, Repo: repo, Issue: issue, Message: r.message(issue), Origin: []byte(`{"event":"issues"}`)}
	for _, f := range change {
		f(&t)
	}
	if _, err := r.q.Enqueue(r.t.Context(), t); err != nil {
		r.t.Fatal(err)
	}
}

// decision returns a decision on an issue's task.
func decision(issue int, d protocol.DecisionType, actions ...string) []byte {
	return fmt.Appendf(nil, `{"task_id":%q,"decision":%q,"rationale":"because","actions":[%s]}`, id(issue), d, strings.Join(actions, ","))
}

// complete sends a decision with these actions, as the agent.
func (r *rig) complete(issue int, actions ...string) {
	r.t.Helper()
	r.decide(issue, decision(issue, protocol.LabelAndRespond, actions...))
}

func (r *rig) decide(issue int, decision []byte) {
	r.t.Helper()
	if _, err := r.q.Complete(r.t.Context(), queue.Ref{ID: id(issue)}, decision); err != nil {
		r.t.Fatal(err)
	}
}

// claim claims a task as the agent. An empty task means that there is none.
func (r *rig) claim(lease time.Duration) (task string, attempt int) {
	r.t.Helper()
	c, err := r.q.ClaimNext(r.t.Context(), agentURL, queue.ClaimOptions{Lease: lease})
	if err != nil && !errors.Is(err, queue.ErrEmpty) {
		r.t.Fatal(err)
	}
	return c.ID, c.Attempt
}

func (r *rig) task(issue int) queue.Details {
	r.t.Helper()
	d, err := r.q.Inspect(r.t.Context(), id(issue))
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// is fails the test unless the task for an issue is in that state.
func (r *rig) is(issue int, want queue.State) {
	r.t.Helper()
	if got := r.task(issue); got.State != want {
		r.t.Errorf("issue %d: got %s (%s), want %s", issue, got.State, got.Reason, want)
	}
}

// report returns the stored report of the decision on an issue.
func (r *rig) report(issue int) (rep runner.Report) {
	r.t.Helper()
	if err := json.Unmarshal(r.task(issue).Report, &rep); err != nil {
		r.t.Error(err)
	}
	return rep
}

// wrote fails the test unless GitHub received exactly these writes, in this order.
func (r *rig) wrote(want ...string) {
	r.t.Helper()
	if got := r.writes(); !slices.Equal(got, want) {
		r.t.Errorf("got writes %q, want %q\n%s", got, want, r.log())
	}
}

func (r *rig) writes() []string {
	return slices.DeleteFunc(r.gh.Log(), func(line string) bool { return strings.HasPrefix(line, "GET ") })
}

// direct is a transport that calls the rig's GitHub in the caller's goroutine.
type direct struct{ r *rig }

func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	r := d.r
	r.mu.Lock()
	r.sent = append(r.sent, req.Method)
	r.mu.Unlock()
	if r.slow > 0 {
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(r.slow):
		}
	}
	if req.Method != http.MethodGet && r.onWrite != nil {
		if err := r.onWrite(req); err != nil {
			return nil, err
		}
	}
	return handle(r.gh, req)
}

// handle calls a handler with a request and returns its response.
func handle(h http.Handler, req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			err = io.ErrUnexpectedEOF
		}
	}()
	if req.Body == nil {
		req = req.Clone(req.Context())
		req.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Result(), nil
}

// hosts is a transport that calls a handler for each host.
type hosts struct {
	mu    sync.Mutex
	known map[string]http.HandlerFunc
}

// set replaces the handler of a host; nil: the host refuses connections.
func (h *hosts) set(host string, f http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[host] = f
}

func (h *hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	h.mu.Lock()
	f := h.known[req.URL.Host]
	h.mu.Unlock()
	if f == nil {
		return nil, errors.New("connection refused")
	}
	resp, err := handle(f, req)
	if req.Context().Err() != nil {
		return nil, req.Context().Err()
	}
	return resp, err
}
