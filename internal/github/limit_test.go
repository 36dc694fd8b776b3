package github_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	start := newClock().Now()
	reset := func(d time.Duration) string { return strconv.FormatInt(start.Add(d).Unix(), 10) }
	tests := []struct {
		name    string
		fault   githubtest.Fault
		maxWait time.Duration
		waits   []time.Duration
		log     []string
		wait    time.Duration // field Wait of the LimitError; 0: success
	}{
		{
			name:  "429 with seconds",
			fault: githubtest.Fault{Times: 1, Status: 429, Header: map[string]string{"Retry-After": "7"}},
			waits: []time.Duration{7 * time.Second}, log: []string{labelPost + "429", labelPost + "200"},
		},
		{
			name:  "429 with a date",
			fault: githubtest.Fault{Times: 1, Status: 429, Header: map[string]string{"Retry-After": start.Add(9 * time.Second).Format(http.TimeFormat)}},
			waits: []time.Duration{9 * time.Second}, log: []string{labelPost + "429", labelPost + "200"},
		},
		{
			name:  "429 at once",
			fault: githubtest.Fault{Times: 1, Status: 429, Header: map[string]string{"Retry-After": "0"}},
			waits: []time.Duration{time.Second}, log: []string{labelPost + "429", labelPost + "200"},
		},
		{
			name:  "403 with seconds",
			fault: githubtest.Fault{Times: 1, Status: 403, Header: map[string]string{"Retry-After": "5"}},
			waits: []time.Duration{5 * time.Second}, log: []string{labelPost + "403", labelPost + "200"},
		},
		{
			name:  "403, none left until reset",
			fault: githubtest.Fault{Times: 1, Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(42 * time.Second)}},
			waits: []time.Duration{42 * time.Second}, log: []string{labelPost + "403", labelPost + "200"},
		},
		{
			name:  "reset in the past",
			fault: githubtest.Fault{Times: 1, Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(-time.Hour)}},
			waits: []time.Duration{time.Second}, log: []string{labelPost + "403", labelPost + "200"},
		},
		{
			name:  "secondary limit by its text",
			fault: githubtest.Fault{Times: 1, Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`},
			waits: []time.Duration{time.Minute}, log: []string{labelPost + "403", labelPost + "200"},
		},
		{
			name:    "secondary limit, again and again",
			fault:   githubtest.Fault{Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`},
			maxWait: 10 * time.Minute, waits: []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute},
			log: []string{labelPost + "403", labelPost + "403", labelPost + "403", labelPost + "403"}, wait: 8 * time.Minute,
		},
		{
			name:  "429 without a word",
			fault: githubtest.Fault{Times: 1, Status: 429},
			waits: []time.Duration{time.Minute}, log: []string{labelPost + "429", labelPost + "200"},
		},
		{
			name:  "together within the bound",
			fault: githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "40"}},
			waits: []time.Duration{40 * time.Second, 40 * time.Second},
			log:   []string{labelPost + "429", labelPost + "429", labelPost + "429"}, wait: 40 * time.Second,
		},
		{
			name:  "longer than the bound",
			fault: githubtest.Fault{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(time.Hour)}},
			log:   []string{labelPost + "403"}, wait: time.Hour,
		},
		{
			name:  "longer than a clock can tell",
			fault: githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "9223372036854775807"}},
			log:   []string{labelPost + "429"}, wait: 30 * 24 * time.Hour,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			s.Fault(tt.fault)
			c, ticks := client(t, s.URL, func(o *github.Options) { o.MaxWait = tt.maxWait })
			err := addLabel(t.Context(), c)
			limit, limited := errors.AsType[*rest.LimitError](err)
			if limited != (tt.wait != 0) || limited && limit.Wait != tt.wait || errors.Is(err, triage.ErrUncertain) {
				t.Errorf("got %v, want a LimitError for %v", err, tt.wait)
			}
			if !limited && err != nil {
				t.Errorf("got %v, want success", err)
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

func TestLimitsAreNotRemembered(t *testing.T) {
	t.Parallel()
	far := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	for _, f := range []githubtest.Fault{
		{Times: 1, Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": far}},
		{Times: 1, Status: 403, Header: map[string]string{"Retry-After": "3600"}, Body: `{"documentation_url":"https://docs.github.com/rest#secondary-rate-limits"}`},
	} {
		s := fake(t)
		s.Fault(f)
		c, _ := client(t, s.URL, func(o *github.Options) { o.Now = nil })
		if err := addLabel(t.Context(), c); err == nil {
			t.Error("got success, want a limit")
		}
		if err := addLabel(t.Context(), c); err != nil {
			t.Errorf("got %v, want the second call to be made", err)
		}
		if diff := cmp.Diff([]string{labelPost + "403", labelPost + "200"}, s.Log()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

func TestSuccessWithNoneLeftIsNotRemembered(t *testing.T) {
	t.Parallel()
	s := fake(t)
	far := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	s.Fault(githubtest.Fault{Times: 1, Status: 200, Body: "[]", Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": far}})
	c, _ := client(t, s.URL)
	if err := errors.Join(addLabel(t.Context(), c), addLabel(t.Context(), c)); err != nil {
		t.Error(err)
	}
	if len(s.Log()) != 2 {
		t.Errorf("got calls %v, want 2", s.Log())
	}
}

func TestOneBudgetForTheStepsOfACall(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Fault(githubtest.Fault{Method: "GET", Times: 1, Status: 429, Header: map[string]string{"Retry-After": "60"}})
	s.Fault(githubtest.Fault{Method: "PATCH", Times: 1, Status: 429, Header: map[string]string{"Retry-After": "60"}})
	c, ticks := client(t, s.URL)
	err := put(t.Context(), c, ref, effect.SetMilestone{Title: "v1"})
	limit, ok := errors.AsType[*rest.LimitError](err)
	if !ok || limit.Left != 30*time.Second {
		t.Errorf("got %v, want a LimitError with 30 s left", err)
	}
	if diff := cmp.Diff([]time.Duration{time.Minute}, ticks.Waits()); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Fault(githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "30"}})
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := client(t, s.URL, func(o *github.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
	})
	err := addLabel(ctx, c)
	if !errors.Is(err, context.Canceled) || errors.Is(err, triage.ErrUncertain) {
		t.Errorf("got %v, want the context's error and certainty", err)
	}
	if diff := cmp.Diff([]string{labelPost + "429"}, s.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestRealSleepEndsWithTheContext(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Fault(githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "80"}})
	c, _ := client(t, s.URL, func(o *github.Options) { o.Sleep = nil })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := addLabel(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}
