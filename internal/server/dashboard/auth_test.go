package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/queue"
)

// oneFailed is a queue with a task that can be retried.
func oneFailed() *still {
	var task stillTask
	task.ID, task.Repo, task.Issue, task.State = "id-1", "o/r", 7, queue.Failed
	return &still{Tasks: []stillTask{task}}
}

// own is the origin of the dashboard in the tests.
const own = "http://localhost:8000"

// signIn submits the login form, and returns the response with its cookie.
func signIn(t *testing.T, d http.Handler, secret string) *http.Response {
	t.Helper()
	v := url.Values{"name": {"ada"}, "secret": {secret}, "from": {"/tasks/id-1"}}
	return call{method: "POST", path: "/login", body: v.Encode(), origin: own}.do(t, d)
}

func TestSession(t *testing.T) {
	t.Parallel()
	now := noon()
	q := oneFailed()
	d := serve(t, Options{Queue: q, Operators: ada, Now: func() time.Time { return now }})

	r := call{path: "/tasks/id-1"}.do(t, d)
	if page := text(t, r); r.StatusCode != 401 || !strings.Contains(page, `name="from" value="/tasks/id-1"`) || strings.Contains(page, "o/r") {
		t.Fatalf("without a session: %d %s", r.StatusCode, page)
	}
	if r := signIn(t, d, "wrong"); r.StatusCode != 401 {
		t.Errorf("with a wrong secret: %d", r.StatusCode)
	}
	in := signIn(t, d, "correct horse")
	if in.StatusCode != 303 || in.Header.Get("Location") != "/tasks/id-1" {
		t.Fatalf("sign in: %d to %q", in.StatusCode, in.Header.Get("Location"))
	}
	c := in.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Name != "foreman" || len(c.Value) < 40 || c.MaxAge != 43200 {
		t.Errorf("got cookie %v", c)
	}
	r = call{path: "/tasks/id-1", cookies: in.Cookies()}.do(t, d)
	page := text(t, r)
	if r.StatusCode != 200 || !strings.Contains(page, "Decide again") {
		t.Fatalf("with a session: %d %s", r.StatusCode, page)
	}

	r = call{method: "POST", path: "/tasks/id-1/retry", origin: own, cookies: in.Cookies()}.do(t, d)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/tasks/id-1?did=retried" || len(q.did) != 1 || q.did[0] != "retry id-1 ada" {
		t.Errorf("retry: %d to %q, %v", r.StatusCode, r.Header.Get("Location"), q.did)
	}
	if page := text(t, call{path: "/tasks/id-1?did=retried", cookies: in.Cookies()}.do(t, d)); !strings.Contains(page, "The task was retried.") {
		t.Error("the page does not say what was done")
	}

	r = call{method: "POST", path: "/logout", cookies: in.Cookies()}.do(t, d)
	if page := (call{path: "/", cookies: in.Cookies()}).do(t, d); r.StatusCode != 403 || page.StatusCode != 200 {
		t.Errorf("sign out without an origin: %d, and then %d", r.StatusCode, page.StatusCode)
	}
	r = call{method: "POST", path: "/logout", origin: own, cookies: in.Cookies()}.do(t, d)
	if r.StatusCode != 303 || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("sign out: %d %v", r.StatusCode, r.Cookies())
	}
	if r := (call{path: "/", cookies: in.Cookies()}).do(t, d); r.StatusCode != 401 {
		t.Errorf("after signing out: %d", r.StatusCode)
	}

	in = signIn(t, d, "correct horse")
	now = now.Add(sessionAge)
	if r := (call{path: "/", cookies: in.Cookies()}).do(t, d); r.StatusCode != 401 {
		t.Errorf("after the session's age: %d", r.StatusCode)
	}
}

func TestSessionSecure(t *testing.T) {
	t.Parallel()
	const form = "name=ada&secret=correct+horse"
	for _, o := range []Options{{Operators: ada, Secure: true}, {Operators: ada}} {
		d := serve(t, o)
		c := call{method: "POST", path: "https://queue.example/login", body: form, host: "queue.example", origin: "https://queue.example", tls: !o.Secure}
		if c := c.do(t, d).Cookies()[0]; !c.Secure || c.Name != "__Host-foreman" || c.Path != "/" || c.Domain != "" {
			t.Errorf("got %v", c)
		}
		// HTTP on the same host is another site, because others on the network can forge its pages.
		c.origin = "http://queue.example"
		if r := c.do(t, d); r.StatusCode != 403 || len(r.Cookies()) != 0 {
			t.Errorf("from a page without encryption: got %d, %v", r.StatusCode, r.Cookies())
		}
	}
}

// TestChangeRefused sends requests that must not change a task.
func TestChangeRefused(t *testing.T) {
	t.Parallel()
	q := oneFailed()
	d := serve(t, Options{Queue: q, Operators: ada})
	in := signIn(t, d, "correct horse")
	tests := []struct {
		name   string
		d      http.Handler
		call   call
		status int
	}{
		{"nobody", d, call{}, 401},
		{"nobody, from our own page", d, call{origin: own}, 401},
		{"no origin", d, call{cookies: in.Cookies()}, 403},
		{"Basic without origin", d, call{auth: true}, 403},
		{"another site", d, call{cookies: in.Cookies(), origin: "https://evil.example"}, 403},
		{"another site with Basic", d, call{auth: true, origin: "https://evil.example"}, 403},
		{"another port", d, call{cookies: in.Cookies(), origin: "http://localhost:8001"}, 403},
		{"a null origin", d, call{cookies: in.Cookies(), origin: "null"}, 403},
		{"a browser on another site", d, call{cookies: in.Cookies(), site: "cross-site"}, 403},
		{"a browser on a sibling site", d, call{cookies: in.Cookies(), site: "same-site", origin: own}, 403},
		{"a session that there is not", d, call{cookies: []*http.Cookie{{Name: cookieName, Value: "x"}}, origin: own}, 401},
		{"GET", d, call{cookies: in.Cookies(), method: "GET"}, 405},
		{"a large form", d, call{cookies: in.Cookies(), body: "a=" + strings.Repeat("x", 1<<20)}, 403},
		{"no operators", serve(t, Options{Queue: q}), call{origin: own}, 403},
		{"no operators, private", serve(t, Options{Queue: q, Private: true}), call{origin: own}, 403},
	}
	for _, tt := range tests {
		c := tt.call
		if c.method == "" {
			c.method = "POST"
		}
		c.path = "/tasks/id-1/cancel"
		if r := c.do(t, tt.d); r.StatusCode != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, r.StatusCode, tt.status)
		}
	}
	if q.did != nil {
		t.Errorf("it was done: %v", q.did)
	}
	cancel := call{method: "POST", path: "/tasks/id-1/cancel", auth: true, origin: own}
	r := cancel.do(t, d)
	if r.StatusCode != 303 || len(q.did) != 1 || q.did[0] != "cancel id-1 ada" {
		t.Errorf("what is permitted: %d %v", r.StatusCode, q.did)
	}
	for err, status := range map[error]int{queue.ErrState: 409, queue.ErrNotFound: 404, queue.ErrUnavailable: 503} {
		q.err = err
		if r := cancel.do(t, d); r.StatusCode != status {
			t.Errorf("%v: got %d, want %d", err, r.StatusCode, status)
		}
	}
}

// TestLoginRefused signs in in ways that must fail.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	d := serve(t, Options{Operators: ada})
	for name, c := range map[string]call{
		"no origin":                 {},
		"another site":              {origin: "https://evil.example"},
		"a null origin":             {origin: "null"},
		"a browser on another site": {site: "cross-site"},
		"a browser on a sibling":    {site: "same-site", origin: own},
	} {
		c.method, c.path, c.body = "POST", "/login", "name=ada&secret=correct+horse"
		if r := c.do(t, d); r.StatusCode != 403 || len(r.Cookies()) != 0 {
			t.Errorf("%s: got %d, %v", name, r.StatusCode, r.Cookies())
		}
	}
	// The form sets no session cookie, and a session id supplied by the visitor is not used.
	if r := (call{path: "/login"}).do(t, d); len(r.Cookies()) != 0 {
		t.Errorf("the form has the cookies %v", r.Cookies())
	}
	brought := call{method: "POST", path: "/login", body: "name=ada&secret=correct+horse", origin: own, cookies: []*http.Cookie{{Name: cookieName, Value: "x"}}}
	if c := brought.do(t, d).Cookies()[0]; c.Value == "x" || len(c.Value) < 40 {
		t.Errorf("signed in with the id %q", c.Value)
	}
	if r := (call{path: "/", cookies: brought.cookies}).do(t, d); r.StatusCode != 401 {
		t.Errorf("the brought id as a session: %d", r.StatusCode)
	}
	short := serve(t, Options{Operators: ada, Random: strings.NewReader("short")})
	if r := signIn(t, short, "correct horse"); r.StatusCode != 503 || len(r.Cookies()) != 0 {
		t.Errorf("without a random id: %d, %v", r.StatusCode, r.Cookies())
	}
}

// TestLoginLimited signs in with wrong secrets until the dashboard refuses more of them for a
// while. The right secret still works, because its user may share a proxy with the attacker.
func TestLoginLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := serve(t, Options{Operators: ada, Now: time.Now})
		for range access.MaxFailures {
			if r := signIn(t, d, "wrong"); r.StatusCode != 401 {
				t.Fatalf("a wrong secret: %d", r.StatusCode)
			}
		}
		begin := time.Now()
		if r := signIn(t, d, "wrong"); r.StatusCode != 429 || r.Header.Get("Retry-After") != "60" || time.Since(begin) == 0 || time.Since(begin) > time.Second {
			t.Errorf("after too many attempts: %d after %s", r.StatusCode, time.Since(begin))
		}
		if r := signIn(t, d, "correct horse"); r.StatusCode != 303 {
			t.Errorf("the right secret: %d", r.StatusCode)
		}
		if r := (call{path: "/", auth: true}).do(t, d); r.StatusCode != 200 {
			t.Errorf("the right secret, by Basic authentication: %d", r.StatusCode)
		}
		time.Sleep(time.Minute)
		if r := signIn(t, d, "wrong"); r.StatusCode != 401 {
			t.Errorf("a minute later: %d", r.StatusCode)
		}
	})
}

func TestNear(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host   string
		o      Options
		status int
	}{
		{"localhost:8000", Options{}, 200},
		{"LOCALHOST", Options{}, 200},
		{"127.0.0.1:8000", Options{}, 200},
		{"[::1]:8000", Options{}, 200},
		{"[::1]", Options{}, 200},
		{"rebound.example:8000", Options{}, 421},
		{"localhost.evil.example", Options{}, 421},
		{"queue.example", Options{Operators: ada}, 401},
		{"queue.example", Options{Private: true}, 403},
	}
	for _, tt := range tests {
		r := call{path: "/", host: tt.host}.do(t, serve(t, tt.o))
		if r.StatusCode != tt.status {
			t.Errorf("%s: got %d, want %d", tt.host, r.StatusCode, tt.status)
		}
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"":                       "/",
		"/":                      "/",
		"/?state=done":           "/?state=done",
		"/tasks/id-1":            "/tasks/id-1",
		"//evil.example":         "/",
		"/\\evil.example":        "/",
		"/tasks/\\evil":          "/",
		"https://evil.example/":  "/",
		"javascript:alert(1)":    "/",
		"/logout":                "/",
		"/tasks/x#\r\nSet-Cooki": "/tasks/x",
		"/tasks/x\r\nSet-Cookie": "/",
	} {
		if got := local(from); got != want {
			t.Errorf("local(%q): got %q, want %q", from, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	d := serve(t, Options{})
	r := call{path: "/"}.do(t, d)
	page := text(t, r)
	policy := r.Header.Get("Content-Security-Policy")
	for _, text := range []string{between(page, "<script>", "</script>"), between(page, "<style>", "</style>")} {
		if len(text) < 1000 || !strings.Contains(policy, hash(text)) {
			t.Errorf("the policy %q does not allow a text of %d bytes on the page", policy, len(text))
		}
	}
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("%q is not in the policy", part)
		}
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"X-Frame-Options": "DENY", "Content-Type": "text/html; charset=utf-8",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if strings.Count(page, " on") > 0 && strings.Contains(page, " onclick") || strings.Contains(page, "style=") {
		t.Error("there are inline handlers or styles")
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options Options
		want    string
	}{
		"no queue":              {Options{}, "Queue is not set"},
		"no address":            {Options{Queue: &still{}, GitHub: "github"}, "GitHub: want the address of a web site"},
		"an unreadable address": {Options{Queue: &still{}, GitHub: "http://[::1"}, "GitHub: want the address of a web site"},
	} {
		if _, err := New(tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
