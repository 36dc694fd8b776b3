package llm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/llm/llmtest"
	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

func headerNames(h http.Header) string { return strings.Join(slices.Sorted(maps.Keys(h)), ", ") }

func providers() []string { return []string{llm.Anthropic, llm.OpenAI, llm.Ollama} }

// ask sends the prompt to a fake service. It returns the text or the error, without the address of
// the service.
func ask(ctx context.Context, t *testing.T, s *llmtest.Server, o llm.Options) (string, error) {
	t.Helper()
	o.BaseURL, o.Key = s.URL, llmtest.Key
	text, err := newClient(t, o).Complete(ctx, thePrompt())
	if err != nil {
		wantNone(t, err.Error())
		if strings.Contains(err.Error(), llmtest.Key) {
			t.Errorf("%q holds the key", err)
		}
		prefix := "ask " + o.Provider + " at " + strings.TrimPrefix(s.URL, "http://") + ": "
		if !strings.HasPrefix(err.Error(), prefix) {
			t.Errorf("got %q, want it to start with %q", err, prefix)
		}
		text = "error: " + strings.TrimPrefix(err.Error(), prefix)
	}
	return text, err
}

// TestMisbehaviour sends every kind of answer over every API.
func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	whole := llmtest.Say("All is well.")
	echo := llmtest.Fail(401, llmtest.Key)
	echo.Text = llmtest.Key
	tests := []struct {
		name   string
		answer []llmtest.Answer
		want   string
		waits  []time.Duration
	}{
		{"whole", []llmtest.Answer{whole}, "All is well.", nil},
		{"after a thought", []llmtest.Answer{{Think: "labelled", Text: "Yes."}}, "Yes.", nil},
		{"empty", []llmtest.Answer{{}}, "error: the answer contains no text", nil},
		{"blank", []llmtest.Answer{llmtest.Say(" \n")}, "error: the answer contains no text", nil},
		{"only a thought", []llmtest.Answer{{Think: "labelled"}}, "error: the answer contains no text", nil},
		{"cut off", []llmtest.Answer{{Text: "All is", Stop: llmtest.Tokens}}, "error: the answer is incomplete: it reached the token limit", nil},
		{"refused", []llmtest.Answer{{Text: "labelled? no", Stop: llmtest.Refused}}, "error: the model refused to answer", nil},
		{"tool", []llmtest.Answer{{Text: "hello", Stop: llmtest.Tool}}, "error: the model wants to use a tool, and has none", nil},
		{"huge", []llmtest.Answer{llmtest.Huge(2 << 20)}, "error: the answer is larger than 1048576 bytes", nil},
		{"garbage", []llmtest.Answer{llmtest.Raw("<html>hunter2")}, "error: the answer is not JSON", nil},
		{"nothing", []llmtest.Answer{llmtest.Raw("")}, "error: the answer is empty", nil},
		{"half", []llmtest.Answer{{Text: "hello", Cut: llmtest.InBody}}, "error: the answer was cut off: the connection was closed, or the server does not speak HTTP", nil},
		{"no answer", []llmtest.Answer{{Cut: llmtest.BeforeHeaders}}, "error: no answer: the connection was closed, or the server does not speak HTTP", nil},
		{"key echoed", []llmtest.Answer{echo}, "error: status 401", nil},
		{"key refused", []llmtest.Answer{llmtest.Fail(401, "authentication_error")}, "error: status 401 (authentication_error)", nil},
		{"server error", []llmtest.Answer{llmtest.Fail(500, "api_error")}, "error: status 500 (api_error)", nil},
		{"busy once", []llmtest.Answer{llmtest.Busy(429, 7), whole}, "All is well.", []time.Duration{7 * time.Second}},
		{"busy twice", []llmtest.Answer{llmtest.Busy(529, 0), llmtest.Fail(503, "server_is_overloaded"), whole}, "All is well.", []time.Duration{0, 2 * time.Second}},
		{"busy for ever", []llmtest.Answer{llmtest.Fail(529, "overloaded_error")}, "error: status 529 (overloaded_error)", []time.Duration{time.Second, 2 * time.Second}},
		{"busy for long", []llmtest.Answer{llmtest.Busy(429, 21)}, "error: status 429 (rate_limit_error); not retried, because the wait would be 21s", nil},
		{"busy for long in all", []llmtest.Answer{llmtest.Busy(429, 20), llmtest.Busy(429, 1)}, "error: status 429 (rate_limit_error); not retried, because the wait would be 1s", []time.Duration{20 * time.Second}},
		{"busy, then broken", []llmtest.Answer{llmtest.Busy(429, 1), llmtest.Fail(400, "invalid_request_error")}, "error: status 400 (invalid_request_error)", []time.Duration{time.Second}},
		{"no money", []llmtest.Answer{llmtest.Fail(429, "insufficient_quota")}, "error: status 429 (insufficient_quota)", nil},
	}
	for _, tt := range tests {
		for _, p := range providers() {
			t.Run(tt.name+"/"+p, func(t *testing.T) {
				t.Parallel()
				s := llmtest.New(t, p, llmtest.InTurn(tt.answer[0], tt.answer[1:]...))
				var n nap
				got, _ := ask(t.Context(), t, s, llm.Options{Provider: p, Sleep: n.sleep})
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if diff := cmp.Diff(tt.waits, n.waits); diff != "" {
					t.Errorf("waits -want +got:\n%s", diff)
				}
				requests := s.Requests()
				if len(requests) != len(n.waits)+1 {
					t.Errorf("got %d requests, want %d", len(requests), len(n.waits)+1)
				}
				for _, r := range requests {
					if r.Err != nil || r.Text != thePrompt().Text || r.System != thePrompt().System || r.MaxTokens != 1000 {
						t.Errorf("got a request of %q, %q, %d tokens, %v", r.System, r.Text, r.MaxTokens, r.Err)
					}
				}
			})
		}
	}
}

// TestTooSlow ends calls by the client's timeout and by the caller's context: before the response,
// within the response, and while the client waits for a retry.
func TestTooSlow(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	answers := map[string]llmtest.Answer{
		"headers": {Text: "hello", Hold: never},
		"body":    {Text: "hello", HoldBody: never},
		"waiting": llmtest.Busy(503, 3),
	}
	for name, a := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked atomic.Int32
			s := llmtest.New(t, llm.OpenAI, func(llmtest.Request) llmtest.Answer {
				// The second call is cancelled by the caller.
				if asked.Add(1) == 2 {
					cancel()
				}
				return a
			})
			o := llm.Options{Provider: llm.OpenAI, Timeout: 50 * time.Millisecond, Sleep: func(ctx context.Context, _ time.Duration) error {
				<-ctx.Done()
				return ctx.Err()
			}}
			got, err := ask(ctx, t, s, o)
			if got != "error: no answer within 50ms: context deadline exceeded" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %q", got)
			}
			// The first request may have timed out before it reached the service, so the count is
			// set to one.
			asked.Store(1)
			o.Timeout = time.Hour
			got, err = ask(ctx, t, s, o)
			if got != "error: no answer: context canceled" || !errors.Is(err, context.Canceled) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestSleep uses the real timer, with a wait of zero and with a wait that the timeout ends.
func TestSleep(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llm.Ollama, llmtest.InTurn(llmtest.Busy(429, 0), llmtest.Say("Yes."), llmtest.Busy(429, 20)))
	if got, _ := ask(t.Context(), t, s, llm.Options{Provider: llm.Ollama}); got != "Yes." {
		t.Errorf("got %q", got)
	}
	got, err := ask(t.Context(), t, s, llm.Options{Provider: llm.Ollama, Timeout: 50 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, want the timeout", got)
	}
}

// TestRedirect checks that the client does not follow redirects.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := llmtest.New(t, llm.Anthropic, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		a := llmtest.Answer{Status: status, Header: http.Header{"Location": {elsewhere.URL + "/v1/messages"}}}
		s := llmtest.New(t, llm.Anthropic, llmtest.InTurn(a))
		got, _ := ask(t.Context(), t, s, llm.Options{Provider: llm.Anthropic})
		if want := fmt.Sprintf("error: status %d, and redirects are not followed", status); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n := len(elsewhere.Requests()); n > 0 {
		t.Errorf("got %d requests elsewhere, want none", n)
	}
}

// TestOwnTransport checks the behaviour of a client without Options.Transport.
func TestOwnTransport(t *testing.T) {
	t.Parallel()
	large := llmtest.Say("Yes.")
	large.Header = http.Header{"X-Large": {strings.Repeat("x", 80<<10)}}
	s := llmtest.New(t, llm.OpenAI, llmtest.InTurn(llmtest.Say("Yes."), large))
	o := llm.Options{Provider: llm.OpenAI}
	if got, _ := ask(t.Context(), t, s, o); got != "Yes." {
		t.Errorf("got %q", got)
	}
	if got, want := s.Requests()[0].Header.Get("Connection"), "close"; got != want {
		t.Errorf("got a connection that is %q, want %q", got, want)
	}
	if got, _ := ask(t.Context(), t, s, o); got != "error: no answer: the connection was closed, or the server does not speak HTTP" {
		t.Errorf("got %q, want the headers to be too large", got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	addr := at.String()
	c := newClient(t, llm.Options{Provider: llm.Ollama, BaseURL: "http://" + addr})
	_, err = c.Complete(t.Context(), thePrompt())
	if want := "ask ollama at " + addr + ": no answer: dial tcp " + addr + ": "; !strings.HasPrefix(errText(err), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c = newClient(t, llm.Options{Provider: llm.OpenAI, Key: theKey, BaseURL: srv.URL})
	_, err = c.Complete(t.Context(), thePrompt())
	if want := ": no answer: its certificate is not trusted"; !strings.HasSuffix(errText(err), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestConcurrent uses one client many times at once.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llm.Anthropic, func(r llmtest.Request) llmtest.Answer { return llmtest.Say("about " + r.Text) })
	c := newClient(t, llm.Options{Provider: llm.Anthropic, BaseURL: s.URL, Key: llmtest.Key})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			text := fmt.Sprint(i)
			if got, err := c.Complete(t.Context(), summarize.Prompt{Text: text}); err != nil || got != "about "+text {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// TestSummarizer adds a model's text to a summary over every API. If the text is not usable, the
// summary has the facts alone.
func TestSummarizer(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	r.Put(memory.Task{
		ID: "t", At: time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC), Rationale: "hunter2",
		Actions: []memory.Action{{Type: "add_label", Values: []string{"bug"}, Rule: "crash", Result: triage.Done}},
	})
	facts, _ := memory.Summary(r)
	const prose = "A rule marked the issue as a bug."
	for _, p := range providers() {
		s := llmtest.New(t, p, llmtest.InTurn(
			llmtest.Say(prose), llmtest.Say(prose+" A comment was posted."), llmtest.Fail(500, "api_error"),
		))
		m := summarize.Summarizer{Model: newClient(t, llm.Options{Provider: p, BaseURL: s.URL, Key: llmtest.Key})}
		for _, want := range []string{facts + " " + prose, facts, facts} {
			if got, ok := m.Summarize(t.Context(), r); got != want || !ok {
				t.Errorf("%s: got %q, want %q", p, got, want)
			}
		}
		for _, got := range s.Requests() {
			if got.Err != nil || got.Text != facts || got.MaxTokens != 4096 || strings.Contains(string(got.Body), "hunter2") {
				t.Errorf("%s: got the request %s, %v", p, got.Body, got.Err)
			}
		}
	}
}
