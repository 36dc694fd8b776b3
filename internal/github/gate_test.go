package github_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestGate checks that the gate is called before each request of a write, also before a repeated
// request, and before no read.
func TestGate(t *testing.T) {
	t.Parallel()
	errShut := errors.New("it is not ours any more")
	for _, w := range writes() {
		for shut := 1; shut <= 2; shut++ {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				s := fake(t)
				s.Fault(faultOnWrites(githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "1"}}, w))
				c, _ := client(t, s.URL)
				asked := 0
				ctx := effect.WithGate(t.Context(), func(context.Context) error {
					if asked++; asked == shut {
						return errShut
					}
					return nil
				})
				err := w.call(ctx, c, ref)
				if !errors.Is(err, triage.ErrHalted) || !errors.Is(err, errShut) || errors.Is(err, triage.ErrUncertain) {
					t.Errorf("got %v", err)
				}
				sent := len(s.Log()) - (len(w.want) - 1)
				if asked != shut || sent != shut-1 {
					t.Errorf("asked %d times, sent %d, want %d and %d", asked, sent, shut, shut-1)
				}
			})
		}
	}
}

// late is a context whose timer has not ended it yet although its deadline has passed. That happens
// after the process was suspended.
type late struct{ context.Context }

func (late) Err() error            { return nil }
func (late) Done() <-chan struct{} { return nil }

// TestDeadlinePassed sends nothing once the caller's deadline has passed.
func TestDeadlinePassed(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, ticks := client(t, s.URL)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		err := addLabel(late{ctx}, c)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, triage.ErrUncertain) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Issue(late{ctx}, ref); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a read: got %v", err)
		}
	})
	if len(s.Log()) > 0 || !slices.Equal(ticks.Waits(), nil) {
		t.Errorf("got calls %v, waits %v", s.Log(), ticks.Waits())
	}
}

// unhurried answers every request, but only after this time.
type unhurried time.Duration

func (u unhurried) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-time.After(time.Duration(u)):
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("[]")), Request: req}, nil
	}
}

// TestGateWaits checks that the time limit of a request does not include the wait for its gate.
func TestGateWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := github.New(github.Options{BaseURL: "http://github.test", Token: "secret", Transport: unhurried(10 * time.Second), RequestTimeout: 15 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ctx := effect.WithGate(t.Context(), func(context.Context) error {
			time.Sleep(12 * time.Second)
			return nil
		})
		if err := addLabel(ctx, c); err != nil {
			t.Errorf("got %v", err)
		}
	})
}
