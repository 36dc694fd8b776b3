package telemetry_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const agent = "http://agent.example"

// A rig is a measured queue in memory, on a fake clock.
type rig struct {
	*telemetry.Telemetry

	t     *testing.T
	clock *queuetest.Clock
	inner *brokenqueue.Queue
	q     queue.Queue
}

func newRig(t *testing.T, o telemetry.Options) *rig {
	t.Helper()
	r := &rig{t: t, clock: queuetest.NewClock()}
	o.Now, o.Version = r.clock.Now, "v1.2.3"
	r.inner = brokenqueue.New(queue.New(queue.Options{Now: r.clock.Now}))
	var err error
	if r.Telemetry, err = telemetry.New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if r.q, err = r.Queue(r.inner); err != nil {
		t.Fatal(err)
	}
	return r
}

func id(n int) string { return fmt.Sprintf("7d0c0000-0000-4000-8000-%012d", n) }

func task(n int, origin string) queue.Task {
	return queue.Task{
		ID: id(n), Agent: agent, Repo: "o/r", Issue: n,
		Message: []byte(`{"payload":{"title":"what an issue says"}}`), Origin: []byte(origin),
	}
}

func (r *rig) enqueue(n int, origin string) {
	r.t.Helper()
	if _, err := r.q.Enqueue(r.t.Context(), task(n, origin)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) claim() queue.Claim {
	r.t.Helper()
	c, err := r.q.ClaimNext(r.t.Context(), agent, queue.ClaimOptions{Lease: time.Minute})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) complete(id string) {
	r.t.Helper()
	if _, err := r.q.Complete(r.t.Context(), queue.Ref{ID: id}, []byte(`{"decision":"skip"}`)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) drain() queue.Lease {
	r.t.Helper()
	list, err := r.q.LeaseDecisions(r.t.Context(), queue.DrainOptions{Owner: "me", Lease: time.Minute, Limit: 1})
	if err != nil || len(list) != 1 {
		r.t.Fatal(list, err)
	}
	return list[0].Lease
}

// live moves tasks through their states, so that every kind of event is counted.
func (r *rig) live() {
	ctx := r.t.Context()
	for n, source := range []string{"webhook", "poll", "something else", "webhook"} {
		r.enqueue(n+1, `{"source":"`+source+`"}`)
	}
	r.enqueue(1, `{"source":"webhook"}`) // a duplicate
	r.clock.Advance(3 * time.Second)
	c := r.claim()
	_ = r.q.Heartbeat(ctx, queue.Ref{ID: c.ID}, time.Minute)
	_ = r.q.Heartbeat(ctx, queue.Ref{ID: id(99)}, time.Minute)
	r.clock.Advance(20 * time.Second)
	r.complete(c.ID)
	r.complete(c.ID)
	_ = r.q.Heartbeat(ctx, queue.Ref{ID: c.ID, Attempt: 7}, time.Minute)

	c = r.claim()
	r.complete(c.ID)
	r.clock.Advance(2 * time.Minute)
	_, _ = r.q.ClaimNext(ctx, "http://nobody.example", queue.ClaimOptions{Lease: time.Minute})
	r.drain()
}

// TestMetrics compares all metrics with the golden file, after the events of live.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var r *rig
	r = newRig(t, telemetry.Options{Polls: func() []telemetry.Poll {
		return []telemetry.Poll{{Repo: "o/r", Success: time.Unix(1000, 5e8)}, {Repo: "o/new", Failures: 3}}
	}, Pauses: func(context.Context) ([]queue.Pause, error) {
		return []queue.Pause{{Scope: queue.Scope{Kind: queue.ScopeEverything}, At: r.clock.Now().Add(-time.Minute), Held: 7}, {Scope: queue.Scope{Kind: queue.ScopeAgent, Name: agent}, At: r.clock.Now().Add(time.Hour)}}, nil
	}, Proposals: func(context.Context) (int, error) { return 3, nil }, Budget: func() budget.Report { return callsOf(r.clock.Now(), 2) }, Limits: func() []telemetry.Limit {
		return []telemetry.Limit{{Account: "mona", Until: r.clock.Now().Add(10 * time.Minute)}, {Account: "octo"}}
	}})
	r.live()
	for _, o := range []observe.Observation{
		{Event: observe.ApplyAttempted, Status: "done", Agent: agent, Repo: "o/r", N: 1, Took: 1500 * time.Millisecond},
		{Event: observe.Notified, Status: "ok", Agent: agent, N: 2},
		{Event: observe.Notified, Status: "no answer", Agent: agent, N: 1},
		{Event: observe.LeaseEnded, Status: "done", N: 1, Took: 2 * time.Second},
		{Event: observe.LeaseEnded, Status: "failed", N: 1, Took: 3 * time.Second},
		{Event: observe.LeaseEnded, Status: "given_up", N: 1, Took: 4 * time.Second},
		{Event: observe.LeaseEnded, Status: "again", N: 1, Took: time.Second},
		{Event: observe.LeaseEnded, Status: "given_off", N: 1, Took: time.Second},
		{Event: observe.LeaseEnded, Status: "lost", N: 1, Took: time.Second},
		{Event: observe.Requeued, Status: "pending", N: 1},
		{Event: observe.Requeued, Status: "completed", N: 2},
		{Event: observe.Requeued, Status: "failed", N: 1},
		{Event: observe.Purged, N: 2},
		{Event: observe.OperatorChanged, Status: "retry", N: 1},
		{Event: observe.OperatorChanged, Status: "retry", N: 1, Err: queue.ErrState},
		{Event: observe.OperatorChanged, Status: "cancel", N: 1},
		{Event: observe.ProposalChanged, Carrier: "comment", Status: "made", N: 2},
		{Event: observe.ProposalChanged, Carrier: "comment", Status: "accepted", N: 1},
		{Event: observe.ActionsJudged, Status: "undone", Repo: "o/r", N: 2},
		{Event: observe.ActionsJudged, Status: "other", Repo: "o/r", N: 40},
		{Event: observe.JudgingWaits, Repo: "o/r", N: 9},
		{Event: observe.JudgingWaits, Repo: "o/r", N: 7},
		{Event: observe.PermissionChanged, Status: "granted", Repo: "o/r", N: 1},
		{Event: observe.BreakerOpened, Agent: agent, N: 1},
		{Event: observe.BreakerOpened, Agent: "http://back.example", N: 1},
		{Event: observe.GitHubFailed, Status: "credentials", N: 1},
		{Event: observe.GitHubFailed, Status: "unavailable", N: 1},
		{Event: observe.GitHubRecovered, Status: "unavailable", N: 1},
		{Event: observe.BreakerClosed, Agent: "http://back.example", N: 1},
	} {
		r.Observe(o)
	}
	r.Observe(observe.Observation{Event: observe.LoopFailed, Status: "poll", N: 1})
	r.inner.Break(queue.ErrUnavailable)
	_, _ = r.q.Enqueue(t.Context(), task(50, ""))
	_, _ = r.q.Complete(t.Context(), queue.Ref{ID: id(1)}, nil)
	r.loops()
	r.inner.Break(nil)
	r.calls(t)
	golden(t, "testdata/metrics.txt", r.scrape(t))
}

// loops makes the calls of the server's loops.
func (r *rig) loops() {
	ctx := r.t.Context()
	_ = r.q.ReleaseClaim(ctx, queue.Ref{ID: id(1)}, 0)
	_ = r.q.FailClaim(ctx, queue.Ref{ID: id(1)}, "so")
	_, _ = r.q.Renew(ctx, queue.Lease{}, time.Minute)
	_ = r.q.MarkDone(ctx, queue.Lease{}, nil)
	_ = r.q.Fail(ctx, queue.Lease{}, "so", nil)
	_ = r.q.ReleaseLease(ctx, queue.Lease{}, queue.Postponement{})
	_, _ = r.q.RequeueStale(ctx, queue.Limits{})
	_, _ = r.q.RequeueLeases(ctx, 1)
	_, _ = r.q.ExtendClaims(ctx, time.Minute)
	_, _ = r.q.Purge(ctx, r.clock.Now(), 1)
}

// calls sends requests through the handler and the transport.
func (r *rig) calls(t *testing.T) {
	t.Helper()
	h := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/queue/complete") {
			w.WriteHeader(http.StatusAccepted)
		}
		if q.URL.Path == "/events" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("the answer cannot be flushed: %v", err)
		}
		r.clock.Advance(4 * time.Millisecond)
	}))
	for _, ask := range []struct{ pattern, path string }{
		{"POST /queue/next", "/queue/next"},
		{"POST /queue/next", "/queue/next?wait=30s"},
		{"POST /queue/complete", "/queue/complete"},
		{"POST /github/webhook", "/github/webhook/"},
		{"GET /healthcheck/ready", "/healthcheck/ready"},
		{"", "/tasks/x"},
		{response.NoPattern, "/queue/nothing"},
		{"", "/events"},
		{"POST /queue/tasks/{id}/retry", "/queue/tasks/x/retry"},
		{"", "/%00?"},
	} {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, ask.path, http.NoBody)
		q.Pattern = ask.pattern
		h.ServeHTTP(httptest.NewRecorder(), q)
	}
	answers := []*http.Response{
		{StatusCode: 200, Header: http.Header{"X-Ratelimit-Remaining": {"4999"}, "X-Ratelimit-Resource": {"core"}}},
		{StatusCode: 429, Header: http.Header{"Retry-After": {"60"}}},
		{StatusCode: 403, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Resource": {"search"}}},
		{StatusCode: 403, Header: http.Header{"X-Ratelimit-Remaining": {"10"}, "X-Ratelimit-Resource": {"anything"}}},
		nil,
	}
	rt := r.Transport(roundTrip(func(*http.Request) (*http.Response, error) {
		r.clock.Advance(200 * time.Millisecond)
		next := answers[0]
		answers = answers[1:]
		if next == nil {
			return nil, errors.New("no answer")
		}
		next.Body = http.NoBody
		return next, nil
	}))
	for range 5 {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.github.com/repos/o/r/issues/1/labels", http.NoBody)
		if res, err := rt.RoundTrip(req); err == nil {
			_ = res.Body.Close()
		}
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// scrape returns our metrics, without those of Go and the process, and without empty
// buckets.
func (r *rig) scrape(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Metrics().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	text := w.Body.String()
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("%s is missing", name)
		}
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "foreman_") && !strings.Contains(line, `_bucket{`) {
			out.WriteString(regexp.MustCompile(`go_version="[^"]*"`).ReplaceAllString(line, `go_version="GO"`))
		}
	}
	return out.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", file, diff)
	}
}

// TestEndedClaims checks that the time of an agent is that of its last claim: a claim that was
// released, failed or requeued does not count.
func TestEndedClaims(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, ref queue.Ref) error{
		"released": func(r *rig, ref queue.Ref) error { return r.q.ReleaseClaim(r.t.Context(), ref, 0) },
		"failed": func(r *rig, ref queue.Ref) error {
			if err := r.q.FailClaim(r.t.Context(), ref, "so"); err != nil {
				return err
			}
			_, err := r.q.Retry(r.t.Context(), queue.Seen{ID: ref.ID}, "me")
			return err
		},
		"requeued": func(r *rig, _ queue.Ref) error {
			r.clock.Advance(time.Hour)
			_, err := r.q.RequeueStale(r.t.Context(), queue.Limits{Claims: 9, Drains: 9})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, telemetry.Options{})
			r.enqueue(1, "")
			c := r.claim()
			if err := end(r, queue.Ref{ID: c.ID, Attempt: c.Attempt}); err != nil {
				t.Fatal(err)
			}
			r.complete(c.ID) // by another server's agent, or without a claim
			if text := r.scrape(t); !strings.Contains(text, "foreman_task_agent_seconds_count 0") || !strings.Contains(text, `foreman_completions_total{outcome="accepted"} 1`) {
				t.Errorf("the ended claim counts:\n%s", text)
			}
		})
	}
}

// TestLabels checks that the number of values of each label is bounded.
func TestLabels(t *testing.T) {
	t.Parallel()
	r := newRig(t, telemetry.Options{})
	for n := range 1000 {
		x := task(n+1, "")
		x.Agent = fmt.Sprintf("http://agent-%d.example", n)
		if _, err := r.inner.Enqueue(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		if _, err := r.q.ClaimNext(t.Context(), x.Agent, queue.ClaimOptions{Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		r.Observe(observe.Observation{Event: observe.Notified, Agent: x.Agent, Status: x.Agent, N: 1})
	}
	text := r.scrape(t)
	if n := strings.Count(text, "\nforeman_claims_total{"); n > 201 {
		t.Errorf("there are %d agents", n)
	}
	if !strings.Contains(text, `foreman_queue_agent_tasks{agent="other",state="claimed"} 800`) {
		t.Error("those beyond the limit are not added up")
	}
}

// TestStats checks that scrapes share the count of a queue, and report when it fails.
func TestStats(t *testing.T) {
	t.Parallel()
	r := newRig(t, telemetry.Options{StatsFor: time.Minute})
	has := func(want string) {
		t.Helper()
		if text := r.scrape(t); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	has(`foreman_queue_tasks{state="pending"} 0`)
	r.enqueue(1, "")
	has(`foreman_queue_tasks{state="pending"} 0`)
	r.clock.Advance(time.Minute)
	has(`foreman_queue_tasks{state="pending"} 1`)
	has("foreman_queue_oldest_pending_seconds 60")
	r.inner.Break(queue.ErrUnavailable)
	r.clock.Advance(time.Minute)
	has("foreman_queue_readable 0")
	has("foreman_queue_writable 0")
	if _, err := r.Queue(r.inner); err == nil {
		t.Error("a second queue is measured")
	}
}

// TestNil calls every method on a nil Telemetry.
func TestNil(t *testing.T) {
	t.Parallel()
	var none *telemetry.Telemetry
	q := brokenqueue.New(queue.New(queue.Options{}))
	if got, err := none.Queue(q); err != nil || got != q {
		t.Errorf("got %v, %v", got, err)
	}
	none.Observe(observe.Observation{Event: observe.ApplyAttempted})
	if none.Trace(t.Context()) != "" || none.Transport(nil) != http.DefaultTransport || none.Handler(nil) != nil || none.Close(t.Context()) != nil {
		t.Error("it does something")
	}
	ctx, end := none.Span(t.Context(), "", "")
	end(nil)
	if ctx != t.Context() {
		t.Error("the context changed")
	}
	w := httptest.NewRecorder()
	none.Metrics().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusNotFound {
		t.Errorf("got %d", w.Code)
	}
}

// TestConformance runs the conformance tests of queues on the measured queue.
func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T) queuetest.Pair {
		r := newRig(t, telemetry.Options{})
		other, err := telemetry.New(t.Context(), telemetry.Options{Now: r.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.Queue(r.inner)
		if err != nil {
			t.Fatal(err)
		}
		return queuetest.Pair{A: r.q, B: b, Clock: r.clock}
	})
}

// TestProposalsUnreadable checks that a memory that cannot be read only hides its own metric.
func TestProposalsUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, telemetry.Options{Proposals: func(context.Context) (int, error) { return 0, errors.New("the disk smokes") }})
	if got := r.scrape(t); strings.Contains(got, "foreman_proposals_pending") || !strings.Contains(got, "foreman_queue_readable 1") {
		t.Errorf("got\n%s", got)
	}
}
