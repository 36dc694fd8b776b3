package github_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func TestWritesFail(t *testing.T) {
	t.Parallel()
	const denied = `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest"}`
	html := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	tests := []struct {
		name   string
		fault  githubtest.Fault
		number int
		want   error  // errors.Is must match it
		need   string // field Need of the expected PermissionError; empty: another error
		text   string // part of the error
		tries  int
	}{
		{name: "deleted", number: 9, want: triage.ErrGone, text: "410 Gone: This issue was deleted", tries: 1},
		{name: "transferred", number: 10, want: triage.ErrGone, text: "301 Moved Permanently", tries: 1},
		{name: "never there", number: 404, want: triage.ErrGone, text: "404 Not Found", tries: 1},
		{name: "no permission", fault: githubtest.Fault{Status: 403, Body: denied}, need: "issues: write", text: "not accessible by integration", tries: 1},
		{name: "no permission, last call of the hour", fault: githubtest.Fault{Status: 403, Body: denied, Header: map[string]string{
			"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999",
		}}, need: "issues: write", text: "not accessible by integration", tries: 1},
		{name: "personal token", fault: githubtest.Fault{Status: 403, Body: strings.Replace(denied, "integration", "personal access token", 1)}, need: "issues: write", text: "personal access token", tries: 1},
		{name: "bad token", fault: githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}, text: "401 Unauthorized: Bad credentials", tries: 1},
		{name: "locked", fault: githubtest.Fault{Status: 403, Body: `{"message":"Unable to create comment because issue is locked."}`}, text: "403 Forbidden: Unable to create comment because issue is locked.", tries: 1},
		{name: "invalid", fault: githubtest.Fault{Status: 422, Body: `{"message":"Validation Failed","errors":[{"resource":"Label","field":"name","code":"invalid"},{"message":"is too long"},"three","four"]}`},
			text: "422 Unprocessable Entity: Validation Failed (Label.name: invalid; is too long; three)", tries: 1},
		{name: "server error", fault: githubtest.Fault{Status: 502, Body: "<html>"}, want: triage.ErrUncertain, text: "502 Bad Gateway", tries: 1},
		{name: "unavailable", fault: githubtest.Fault{Status: 503, Header: map[string]string{"Retry-After": "1"}}, want: triage.ErrUncertain, text: "503", tries: 1},
		{name: "cut before", fault: githubtest.Fault{CutBefore: true}, want: triage.ErrUncertain, text: "EOF", tries: 1},
		{name: "cut after", fault: githubtest.Fault{CutAfter: true}, want: triage.ErrUncertain, text: "EOF", tries: 1},
		{name: "a maintenance page", fault: githubtest.Fault{Status: 200, Header: html, Body: "<html>"}, want: triage.ErrUncertain, text: "200 OK with text/html", tries: 1},
		{name: "a sign-in page", fault: githubtest.Fault{Status: 302, Header: html}, want: triage.ErrUncertain, text: "302 Found with text/html", tries: 1},
		{name: "a redirect without a body", fault: githubtest.Fault{Status: 307, Body: "\n"}, want: triage.ErrUncertain, text: "307 Temporary Redirect with no content", tries: 1},
		{name: "the page of a proxy", fault: githubtest.Fault{Status: 404, Header: html, Body: "<html>"}, want: triage.ErrUncertain, text: "404 Not Found with text/html", tries: 1},
		{name: "nothing", fault: githubtest.Fault{Status: 200, Body: "\n"}, want: triage.ErrUncertain, text: "200 OK with no content", tries: 1},
		{name: "the JSON of something else", fault: githubtest.Fault{Status: 200, Body: `{"status":"maintenance"}`}, want: triage.ErrUncertain, text: "the answer is unreadable", tries: 1},
		{name: "limited for long", fault: githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "600"}}, text: "asks to wait 10m0s", tries: 1},
	}
	for _, tt := range tests {
		for _, w := range writes() {
			t.Run(tt.name+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				s := fake(t)
				c, ticks := client(t, s.URL, func(o *github.Options) {
					// Each call uses a new connection, because net/http itself repeats a read when
					// a reused connection breaks.
					o.Transport = &http.Transport{DisableKeepAlives: true}
				})
				if tt.fault.Status != 0 || tt.fault.CutAfter || tt.fault.CutBefore {
					s.Fault(faultOnWrites(tt.fault, w))
				}
				target := ref
				if tt.number != 0 {
					target.Number = tt.number
				}
				err := w.call(t.Context(), c, target)
				checkFailure(t, err, tt.want, tt.need)
				if !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), target.String()) {
					t.Errorf("got %q, want it to name %s and say %q", err, target, tt.text)
				}
				reads := len(w.want) - 1
				if got := len(s.Log()); got != reads+tt.tries {
					t.Errorf("got calls %v, want %d", s.Log(), reads+tt.tries)
				}
				if len(ticks.Waits()) != 0 {
					t.Errorf("waited %v, want no wait", ticks.Waits())
				}
			})
		}
	}
}

func faultOnWrites(f githubtest.Fault, w write) githubtest.Fault {
	f.Method, _, _ = strings.Cut(w.want[len(w.want)-1], " ")
	return f
}

func checkFailure(t *testing.T, err, want error, need string) {
	t.Helper()
	if err == nil {
		t.Fatal("got no error, want one")
	}
	for _, sentinel := range []error{triage.ErrGone, triage.ErrUncertain, triage.ErrNotFound} {
		if got := errors.Is(err, sentinel); got != (sentinel == want) {
			t.Errorf("errors.Is(%q, %q) = %v", err, sentinel, got)
		}
	}
	p, ok := errors.AsType[*triage.PermissionError](err)
	if ok != (need != "") || ok && p.Need != need {
		t.Errorf("got %q, want a PermissionError for %q", err, need)
	}
}

func TestMarkDuplicateRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		of   int
		want error
	}{
		{"itself", 7, nil}, // fails before any call
		{"a pull request", 8, triage.ErrNotFound},
		{"a deleted issue", 9, triage.ErrNotFound},
		{"a transferred issue", 10, triage.ErrNotFound},
		{"no issue", 404, triage.ErrNotFound},
		{"no number", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			c, _ := client(t, s.URL)
			checkFailure(t, put(t.Context(), c, ref, effect.MarkDuplicate{Of: tt.of}), tt.want, "")
			if got := s.Issue("octo/hello", 7).State; got != "open" {
				t.Errorf("got state %q, want open", got)
			}
			if calls := s.Log(); tt.want == nil && len(calls) != 0 {
				t.Errorf("got calls %v, want none", calls)
			}
		})
	}
}

func TestWriteWithAnUnreadableAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{", "[]", `{"id":0}`, "<html>"} {
		s := fake(t)
		s.Fault(githubtest.Fault{Status: http.StatusCreated, Body: body})
		c, _ := client(t, s.URL)
		if _, err := c.Write(t.Context(), ref, effect.Comment{Body: "hi"}); !errors.Is(err, triage.ErrUncertain) {
			t.Errorf("body %s: got %v, want ErrUncertain", body, err)
		}
	}
}

func TestWriteThatTakesTooLongIsUncertain(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Fault(githubtest.Fault{Hold: make(chan struct{})})
	c, _ := client(t, s.URL, func(o *github.Options) { o.RequestTimeout = time.Second })
	err := put(t.Context(), c, ref, effect.Close{Reason: ""})
	if !errors.Is(err, triage.ErrUncertain) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 1s") {
		t.Errorf("got %v, want ErrUncertain that names the time, and no context error", err)
	}
}

func TestWriteThatIsCancelled(t *testing.T) {
	t.Parallel()
	s := fake(t)
	reached := make(chan struct{})
	s.Fault(githubtest.Fault{Reached: reached, Hold: make(chan struct{})})
	c, _ := client(t, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	err := put(ctx, c, ref, effect.Close{Reason: ""})
	if !errors.Is(err, triage.ErrUncertain) || !errors.Is(err, context.Canceled) {
		t.Errorf("under way: got %v, want ErrUncertain and the context's error", err)
	}
	err = put(ctx, c, ref, effect.Close{Reason: ""})
	if errors.Is(err, triage.ErrUncertain) || !errors.Is(err, context.Canceled) {
		t.Errorf("before: got %v, want the context's error alone", err)
	}
}
