package github_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const (
	labelPost = "POST /repos/octo/hello/issues/7/labels "
	issueGet  = "GET /repos/octo/hello/issues/7 "
)

func addLabel(ctx context.Context, c *github.Client) error {
	return put(ctx, c, ref, effect.AddLabels{Names: []string{"Kind/Feature"}})
}

// TestReadsAreRepeated checks which failed reads are repeated, and after which waits.
func TestReadsAreRepeated(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault githubtest.Fault
		waits []time.Duration
		log   []string
		text  string // part of the error; empty: success
	}{
		{
			"one bad gateway", githubtest.Fault{Times: 1, Status: 502},
			[]time.Duration{time.Second},
			[]string{issueGet + "502", issueGet + "200"}, "",
		},
		{
			"one cut", githubtest.Fault{Times: 1, CutBefore: true},
			[]time.Duration{time.Second},
			[]string{issueGet + "cut", issueGet + "200"}, "",
		},
		{
			"asked to come back", githubtest.Fault{Times: 1, Status: 503, Header: map[string]string{"Retry-After": "20"}},
			[]time.Duration{20 * time.Second},
			[]string{issueGet + "503", issueGet + "200"}, "",
		},
		{
			"asked to come back too late", githubtest.Fault{Status: 503, Header: map[string]string{"Retry-After": "200"}},
			nil,
			[]string{issueGet + "503"}, "503 Service Unavailable",
		},
		{
			"for good", githubtest.Fault{Status: 500, Body: `{"message":"boom"}`},
			[]time.Duration{time.Second, 2 * time.Second},
			[]string{issueGet + "500", issueGet + "500", issueGet + "500"}, "500 Internal Server Error: boom",
		},
		{
			"cut for good", githubtest.Fault{CutBefore: true},
			[]time.Duration{time.Second, 2 * time.Second},
			[]string{issueGet + "cut", issueGet + "cut", issueGet + "cut"}, "EOF",
		},
		{
			"not made for it", githubtest.Fault{Status: 501},
			nil,
			[]string{issueGet + "501"}, "501 Not Implemented",
		},
		{
			"refused", githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`},
			nil,
			[]string{issueGet + "401"}, "Bad credentials",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			s.Fault(tt.fault)
			c, ticks := client(t, s.URL, func(o *github.Options) {
				o.Transport = &http.Transport{DisableKeepAlives: true}
			})
			_, err := c.Issue(t.Context(), ref)
			if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) || errors.Is(err, triage.ErrUncertain) {
				t.Errorf("got %v, want %q", err, tt.text)
			}
			if diff := cmp.Diff(tt.waits, ticks.Waits()); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.log, s.Log()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingListens checks that a request is repeated if no connection was made, because GitHub
// certainly did not get the request.
func TestNothingListens(t *testing.T) {
	t.Parallel()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := at.String()
	c, ticks := client(t, "http://"+address)
	err = addLabel(t.Context(), c)
	checkFailure(t, err, nil, "")
	if !strings.Contains(err.Error(), "add labels to octo/hello#7: dial tcp "+address) {
		t.Errorf("got %q, want it to say who did not answer", err)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, ticks.Waits()); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnswersAreLimited(t *testing.T) {
	t.Parallel()
	calls := 0
	c, _ := client(t, "", func(o *github.Options) {
		o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			calls++
			body := io.MultiReader(strings.NewReader(`{"title":"`), io.LimitReader(endless{}, 64<<20))
			return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Header: http.Header{}}, nil
		})
	})
	_, err := c.Issue(t.Context(), ref)
	if err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") || calls != 1 {
		t.Errorf("read: got %v after %d calls, want one that is too large", err, calls)
	}
	if err := put(t.Context(), c, ref, effect.Close{Reason: ""}); !errors.Is(err, triage.ErrUncertain) {
		t.Errorf("write: got %v, want ErrUncertain", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestTheTokenIsInNoErrorAndNoLog(t *testing.T) {
	t.Parallel()
	leak := errors.New("proxy said: Authorization: Bearer " + token)
	transports := map[string]roundTripper{
		"transport": func(*http.Request) (*http.Response, error) { return nil, leak },
		"answer": func(*http.Request) (*http.Response, error) {
			half := strings.Repeat("x", 290) + token
			body := `{"message":"bad ` + token + `","errors":["` + half + `","\u0067` + token[1:] + `"]}`
			return &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		},
		"limit": func(*http.Request) (*http.Response, error) {
			body := `{"message":"slow down, ` + token + `"}`
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"999"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		},
		"permission": func(*http.Request) (*http.Response, error) {
			body := `{"message":"Resource not accessible by integration ` + token + `"}`
			return &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		},
	}
	for name, transport := range transports {
		var records bytes.Buffer
		c, _ := client(t, "", func(o *github.Options) {
			o.Transport = transport
			o.Log = slog.New(slog.NewTextHandler(&records, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		for _, w := range writes() {
			err := w.call(t.Context(), c, ref)
			text := err.Error() + records.String()
			if p, ok := errors.AsType[*triage.PermissionError](err); ok {
				text += p.Error() + p.Err.Error()
			}
			if l, ok := errors.AsType[*rest.LimitError](err); ok {
				text += l.Error() + l.Err.Error()
			}
			if strings.Contains(text, token[:8]) || !strings.Contains(err.Error(), "***") {
				t.Errorf("%s, %s: the token shows in %q or the log", name, w.name, text)
			}
		}
		if err := addLabel(t.Context(), c); errors.Is(err, triage.ErrUncertain) != (name == "transport") {
			t.Errorf("%s: got %v, want it uncertain only without an answer", name, err)
		}
	}
}

func TestRequestsAreWellFormed(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL+"/", func(o *github.Options) { o.UserAgent = "tester/1" })
	if err := addLabel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	call := s.Calls()[0]
	want := http.Header{
		"Accept": {"application/vnd.github.v3+json"}, "Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
		"User-Agent": {"tester/1"}, "X-Github-Api-Version": {"2026-03-10"},
	}
	if diff := cmp.Diff(want, call.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if got := strings.TrimSpace(call.Body); got != `{"labels":["Kind/Feature"]}` {
		t.Errorf("got body %s, want the labels in an object", got)
	}
}

// TestUntrustedCertificate checks that a request is not repeated after an untrusted certificate. It
// certainly was not sent, but another try would fail too.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	c, ticks := client(t, s.URL)
	err := addLabel(t.Context(), c)
	checkFailure(t, err, nil, "")
	if !strings.Contains(err.Error(), "certificate") || len(ticks.Waits()) != 0 {
		t.Errorf("got %v after waits %v, want the certificate named at once", err, ticks.Waits())
	}
}
