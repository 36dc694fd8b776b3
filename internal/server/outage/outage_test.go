package outage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/outage"
)

// A rig is a monitor, and a GitHub that answers what the test sets.
type rig struct {
	*outage.Monitor

	t      *testing.T
	events []string
	status int
	header http.Header
	body   string
	cut    error // at the end of the body; nil: it is whole
	err    error
}

// failing is a reader that fails, used as the end of a body.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// RoundTrip implements http.RoundTripper.
func (r *rig) RoundTrip(*http.Request) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	w := httptest.NewRecorder()
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.status)
	res := w.Result()
	res.Body = io.NopCloser(io.MultiReader(strings.NewReader(r.body), failing{r.cut}))
	return res, nil
}

// send sends n requests to a path, one per second, that get a status; 0: an error.
func (r *rig) send(path string, status, n int) {
	r.t.Helper()
	r.about("", path, status, n)
}

// about is like send, but uses the tokens of an App for a repository; empty: a single token for
// all.
func (r *rig) about(repo, path string, status, n int) {
	r.t.Helper()
	r.status, r.err = status, nil
	if status == 0 {
		r.err = errors.New("connection refused")
	}
	for range n {
		req := httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://github.test/api/v3"+path, http.NoBody)
		res, err := r.Transport(r, repo).RoundTrip(req)
		if err == nil {
			_, _ = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		time.Sleep(time.Second)
	}
}

// is fails the test unless there is an outage of the cause; empty: none.
func (r *rig) is(want outage.Cause) {
	r.t.Helper()
	got := outage.Cause("")
	if e, ok := errors.AsType[*outage.Error](r.Err()); ok {
		got = e.Cause
	}
	if got != want {
		r.t.Errorf("got outage %q, want %q", got, want)
	}
}

const (
	issue    = "/repos/o/r/issues/1"
	tokens   = "/app/installations/7/access_tokens"
	lookUp   = "/repos/o/r/installation"
	longTime = 12 // number of requests
)

func TestMonitor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(r *rig)
		want []string // the log without the advice, and the observations
	}{
		{"a revoked token, and a new one", func(r *rig) {
			r.send(issue, 200, 1)
			r.send(issue, 401, 10)
			r.is("")
			r.send(issue, 401, 50)
			r.is(outage.Credentials)
			r.send(issue, 200, 2)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials since=2000-01-01T00:00:01Z failed_requests=11 error=status 401 Unauthorized", "failed credentials",
			"GitHub outage ended cause=credentials duration=1m0s failed_requests=60", "recovered credentials",
		}},
		{"GitHub is down", func(r *rig) {
			r.send(issue, 503, longTime)
			r.is(outage.Unavailable)
			r.send(issue, 404, 1)
		}, []string{
			"GitHub outage began cause=unavailable since=2000-01-01T00:00:00Z failed_requests=11 error=status 503 Service Unavailable", "failed unavailable",
			"GitHub outage ended cause=unavailable duration=12s failed_requests=12", "recovered unavailable",
		}},
		{"something else answers", func(r *rig) {
			r.header, r.body = http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<html>"
			r.send(issue, 200, longTime/2)
			r.send(issue, 302, longTime/2)
			r.is(outage.Unavailable)
			r.header, r.body = nil, "{}"
			r.send(issue, 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=unavailable since=2000-01-01T00:00:00Z failed_requests=11 error=the answer is not GitHub's: 302 Found with text/html", "failed unavailable",
			"GitHub outage ended cause=unavailable duration=12s failed_requests=12", "recovered unavailable",
		}},
		{"answers are cut short, or empty", func(r *rig) {
			r.cut = io.ErrUnexpectedEOF
			r.send(issue, 200, longTime/2)
			r.body, r.cut = "", nil
			r.send(issue, 200, longTime/2)
			r.is(outage.Unavailable)
		}, []string{
			"GitHub outage began cause=unavailable since=2000-01-01T00:00:00Z failed_requests=11 error=the answer is not GitHub's: 200 OK with no content", "failed unavailable",
		}},
		{"GitHub cannot be reached, and then refuses the token", func(r *rig) {
			r.send(issue, 0, longTime)
			r.is(outage.Unavailable)
			r.send(issue, 401, 2)
			r.is("")
			for range 3 {
				r.send(issue, 0, 1)
				r.send(issue, 401, 1)
			}
			r.is("")
			for range 3 {
				r.send(issue, 0, 1)
				r.send(issue, 401, 1)
			}
			r.is(outage.Credentials)
		}, []string{
			"GitHub outage began cause=unavailable since=2000-01-01T00:00:00Z failed_requests=11 error=connection refused", "failed unavailable",
			"GitHub outage ended cause=unavailable duration=12s failed_requests=12", "recovered unavailable",
			"GitHub outage began cause=credentials since=2000-01-01T00:00:12Z failed_requests=7 error=status 401 Unauthorized", "failed credentials",
		}},
		{"GitHub refuses the token, and then cannot be reached", func(r *rig) {
			r.send(issue, 401, longTime)
			r.send(issue, 0, longTime)
			if got := r.Err().Error(); !strings.Contains(got, "(unavailable): connection refused") || !strings.Contains(got, "(credentials): status 401") {
				r.t.Errorf("got %s", got)
			}
			r.send(issue, 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials since=2000-01-01T00:00:00Z failed_requests=11 error=status 401 Unauthorized", "failed credentials",
			"GitHub outage began cause=unavailable since=2000-01-01T00:00:12Z failed_requests=11 error=connection refused", "failed unavailable",
			"GitHub outage ended cause=unavailable duration=12s failed_requests=12", "recovered unavailable",
			"GitHub outage ended cause=credentials duration=24s failed_requests=12", "recovered credentials",
		}},
		{"one issue cannot be read", func(r *rig) {
			for range longTime {
				r.send(issue, 500, 1)
				r.send("/repos/o/r/issues/2", 200, 1)
			}
			r.is("")
		}, nil},
		{"one slow request", func(r *rig) {
			time.Sleep(time.Hour)
			r.send(issue, 500, 1)
			time.Sleep(time.Hour)
			r.is("")
		}, nil},
		{"limits and refusals of one thing", func(r *rig) {
			r.send(issue, 403, longTime)
			r.send(issue, 429, longTime)
			r.is("")
		}, nil},
		{"too many wrong tokens", func(r *rig) {
			r.send(issue, 401, longTime)
			r.send(issue, 403, longTime)
			r.is(outage.Credentials)
			r.send("/repos/o/app/issues/1", 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials since=2000-01-01T00:00:00Z failed_requests=11 error=status 401 Unauthorized", "failed credentials",
			"GitHub outage ended cause=credentials duration=24s failed_requests=12", "recovered credentials",
		}},
		{"an App that was suspended", func(r *rig) {
			for range longTime {
				r.about("o/r", lookUp, 200, 1)
				r.about("o/r", tokens, 403, 1)
			}
			r.is(outage.Credentials)
			r.about("o/r", tokens, 201, 1)
			r.send("/app", 200, 1)
			r.is(outage.Credentials)
			r.about("o/r", issue, 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials account=o repository=o/r since=2000-01-01T00:00:01Z failed_requests=6 error=status 403 Forbidden", "failed credentials",
			"GitHub outage ended cause=credentials account=o duration=25s failed_requests=12", "recovered credentials",
		}},
		{"an App that is refused for one account of two", func(r *rig) {
			for range longTime {
				r.about("o/r", lookUp, 404, 1)
				r.about("other/r", tokens, 201, 1)
				r.about("other/r", issue, 200, 1)
			}
			r.is(outage.Credentials)
			if got := r.Err().Error(); !strings.Contains(got, "(credentials) of o/r: status 404") {
				r.t.Errorf("got %s", got)
			}
			r.about("o/r", issue, 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials account=o repository=o/r since=2000-01-01T00:00:00Z failed_requests=5 error=status 404 Not Found", "failed credentials",
			"GitHub outage ended cause=credentials account=o duration=36s failed_requests=12", "recovered credentials",
		}},
		{"an App that is removed from two accounts, one of them with two repositories", func(r *rig) {
			for range longTime {
				for _, repo := range []string{"o/r", "o/s", "other/r"} {
					r.about(repo, tokens, 404, 1)
				}
			}
			if got := r.Err().Error(); !strings.Contains(got, "(credentials) of o/r, o/s, other/r: status 404") {
				r.t.Errorf("got %s", got)
			}
			for _, repo := range []string{"o/r", "other/r", "o/s"} {
				r.is(outage.Credentials)
				r.about(repo, issue, 200, 1)
			}
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials account=o repository=o/r since=2000-01-01T00:00:00Z failed_requests=5 error=status 404 Not Found", "failed credentials",
			"GitHub outage began cause=credentials account=other repository=other/r since=2000-01-01T00:00:02Z failed_requests=5 error=status 404 Not Found",
			"GitHub outage ended cause=credentials account=other duration=35s failed_requests=12",
			"GitHub outage ended cause=credentials account=o duration=38s failed_requests=24", "recovered credentials",
		}},
		{"an App that lacks one repository of an account", func(r *rig) {
			for range longTime {
				r.about("o/r", lookUp, 404, 1)
				r.about("o/s", issue, 200, 1)
			}
			r.is(outage.Credentials)
		}, []string{
			"GitHub outage began cause=credentials account=o repository=o/r since=2000-01-01T00:00:00Z failed_requests=6 error=status 404 Not Found", "failed credentials",
		}},
		{"an App whose key is refused", func(r *rig) {
			for range longTime {
				r.about("o/r", lookUp, 401, 1)
				r.about("other/r", lookUp, 401, 1)
			}
			if got := r.Err().Error(); !strings.Contains(got, "(credentials): status 401") {
				r.t.Errorf("got %s", got)
			}
			r.about("o/r", lookUp, 200, 1)
			r.is("")
		}, []string{
			"GitHub outage began cause=credentials since=2000-01-01T00:00:00Z failed_requests=11 error=status 401 Unauthorized", "failed credentials",
			"GitHub outage ended cause=credentials duration=24s failed_requests=24", "recovered credentials",
		}},
		{"an App that is limited", func(r *rig) {
			r.header = http.Header{"Retry-After": {"60"}}
			r.about("o/r", tokens, 403, longTime)
			r.is("")
		}, nil},
		{"the server ends its requests", func(r *rig) {
			r.err = fmt.Errorf("round trip: %w", context.Canceled)
			for range longTime {
				_, _ = r.Transport(r, "").RoundTrip(httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://github.test"+issue, http.NoBody))
				time.Sleep(time.Second)
			}
			r.is("")
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				tt.test(r)
				if diff := cmp.Diff(tt.want, r.events); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, body: "{}"}
	r.Monitor = outage.New(outage.Options{
		Log: slog.New(events{slog.DiscardHandler, r}),
		Observe: func(o observe.Observation) {
			what := "failed "
			if o.Event == observe.GitHubRecovered {
				what = "recovered "
			}
			r.events = append(r.events, what+o.Status)
		},
	})
	return r
}

// events is a log handler that keeps a line for each warning.
type events struct {
	slog.Handler

	r *rig
}

// Enabled implements slog.Handler.
func (events) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (e events) Handle(_ context.Context, rec slog.Record) error {
	line := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		switch {
		case a.Key == "advice":
		case a.Value.Kind() == slog.KindTime:
			line += " " + a.Key + "=" + a.Value.Time().UTC().Format(time.RFC3339)
		default:
			line += " " + a.Key + "=" + a.Value.String()
		}
		return true
	})
	if rec.Level != slog.LevelWarn {
		line = rec.Level.String() + " " + line
	}
	e.r.events = append(e.r.events, line)
	return nil
}

// TestProbe checks that the end of an outage is noticed even if no other request is sent. For each
// repository, that needs a request about it.
func TestProbe(t *testing.T) {
	t.Parallel()
	for name, repos := range map[string][]string{"a token": {""}, "an App": {"o/r", "other/r"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				var probes []string
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error)
				go func() {
					done <- r.Run(ctx, func(_ context.Context, repo string) error {
						probes = append(probes, repo)
						r.about(repo, issue, 200, 1)
						return nil
					})
				}()
				time.Sleep(time.Hour)
				for range longTime {
					for _, repo := range repos {
						r.about(repo, issue, 401, 1)
					}
				}
				r.is(outage.Credentials)
				time.Sleep(time.Minute + 2*time.Second)
				r.is("")
				time.Sleep(time.Hour)
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(repos, probes); diff != "" {
					t.Errorf("probes (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestForget removes the App from a repository: its outage ends a day after the last request that
// was not a probe.
func TestForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		probes := 0
		go func() {
			done <- r.Run(ctx, func(ctx context.Context, repo string) error {
				probes++
				req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://github.test"+lookUp, http.NoBody)
				res, err := r.Transport(r, repo).RoundTrip(req)
				if err != nil {
					return err
				}
				_, err = io.ReadAll(res.Body)
				return errors.Join(err, res.Body.Close())
			})
		}()
		r.about("O/r", lookUp, 404, longTime)
		time.Sleep(23 * time.Hour)
		r.is(outage.Credentials)
		time.Sleep(2 * time.Hour)
		r.is("")
		before := probes
		time.Sleep(time.Hour)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if before == 0 || probes != before {
			t.Errorf("%d probes, and %d after the outage, want none then", before, probes-before)
		}
	})
}
