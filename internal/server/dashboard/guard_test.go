package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
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

// signIn goes through the form, and returns the cookies that it leads to.
func signIn(t *testing.T, d http.Handler, secret string) *http.Response {
	t.Helper()
	form := call{path: "/login"}.do(t, d)
	v := url.Values{"name": {"ada"}, "secret": {secret}, "token": {token(text(t, form))}, "from": {"/tasks/id-1"}}
	return call{method: "POST", path: "/login", body: v.Encode(), cookies: form.Cookies()}.do(t, d)
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
	if r.StatusCode != 200 || !strings.Contains(page, "Ask the agent again") {
		t.Fatalf("with a session: %d %s", r.StatusCode, page)
	}

	body := url.Values{"token": {token(page)}}.Encode()
	r = call{method: "POST", path: "/tasks/id-1/retry", body: body, cookies: in.Cookies()}.do(t, d)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/tasks/id-1?did=retried" || len(q.did) != 1 || q.did[0] != "retry id-1 ada" {
		t.Errorf("retry: %d to %q, %v", r.StatusCode, r.Header.Get("Location"), q.did)
	}
	if page := text(t, call{path: "/tasks/id-1?did=retried", cookies: in.Cookies()}.do(t, d)); !strings.Contains(page, "The task was taken up again.") {
		t.Error("the page does not say what was done")
	}

	r = call{method: "POST", path: "/logout", body: body, cookies: in.Cookies()}.do(t, d)
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
	for _, o := range []Options{{Operators: ada, Secure: true}, {Operators: ada}} {
		r := call{path: "https://queue.example/login", host: "queue.example", tls: !o.Secure}.do(t, serve(t, o))
		if c := r.Cookies()[0]; !c.Secure || c.Name != "__Host-foreman-form" || c.Path != "/" || c.Domain != "" {
			t.Errorf("got %v", c)
		}
	}
}

// TestChangeRefused sends what must not change a task.
func TestChangeRefused(t *testing.T) {
	t.Parallel()
	q := oneFailed()
	d := serve(t, Options{Queue: q, Operators: ada})
	in := signIn(t, d, "correct horse")
	other := signIn(t, d, "correct horse")
	good := url.Values{"token": {token(text(t, call{path: "/", cookies: in.Cookies()}.do(t, d)))}}.Encode()
	basic := url.Values{"token": {token(text(t, call{path: "/tasks/id-1", auth: true}.do(t, d)))}}.Encode()
	tests := []struct {
		name   string
		d      http.Handler
		call   call
		status int
	}{
		{"nobody", d, call{body: good}, 401},
		{"no token", d, call{cookies: in.Cookies()}, 403},
		{"wrong token", d, call{cookies: in.Cookies(), body: "token=x"}, 403},
		{"token in the address", d, call{cookies: in.Cookies(), path: "/tasks/id-1/retry?" + good}, 403},
		{"token of another session", d, call{cookies: other.Cookies(), body: good}, 403},
		{"token of the session for Basic", d, call{auth: true, body: good}, 403},
		{"Basic without token", d, call{auth: true}, 403},
		{"another site", d, call{cookies: in.Cookies(), body: good, origin: "https://evil.example"}, 403},
		{"a null origin", d, call{cookies: in.Cookies(), body: good, origin: "null"}, 403},
		{"GET", d, call{cookies: in.Cookies(), method: "GET"}, 405},
		{"a large form", d, call{cookies: in.Cookies(), body: "a=" + strings.Repeat("x", 1<<20) + "&" + good}, 403},
		{"no operators", serve(t, Options{Queue: q}), call{body: good}, 403},
		{"no operators, private", serve(t, Options{Queue: q, Private: true}), call{body: good}, 403},
	}
	for _, tt := range tests {
		c := tt.call
		if c.method == "" {
			c.method = "POST"
		}
		if c.path == "" {
			c.path = "/tasks/id-1/cancel"
		}
		if r := c.do(t, tt.d); r.StatusCode != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, r.StatusCode, tt.status)
		}
	}
	if q.did != nil {
		t.Errorf("it was done: %v", q.did)
	}
	r := call{method: "POST", path: "/tasks/id-1/cancel", auth: true, body: basic, origin: "http://localhost:8000"}.do(t, d)
	if r.StatusCode != 303 || len(q.did) != 1 || q.did[0] != "cancel id-1 ada" {
		t.Errorf("what is permitted: %d %v", r.StatusCode, q.did)
	}
	for err, status := range map[error]int{queue.ErrState: 409, queue.ErrNotFound: 404, queue.ErrUnavailable: 503} {
		q.err = err
		if r := (call{method: "POST", path: "/tasks/id-1/cancel", auth: true, body: basic}).do(t, d); r.StatusCode != status {
			t.Errorf("%v: got %d, want %d", err, r.StatusCode, status)
		}
	}
}

// TestLoginRefused signs in in ways that must fail.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	now := noon()
	d := serve(t, Options{Operators: ada, Now: func() time.Time { return now }})
	form := call{path: "/login"}.do(t, d)
	tok := token(text(t, form))
	v := url.Values{"name": {"ada"}, "secret": {"correct horse"}, "token": {tok}}.Encode()
	for name, c := range map[string]call{
		"no cookie":       {body: v},
		"no token":        {body: "name=ada&secret=correct+horse", cookies: form.Cookies()},
		"another's token": {body: v, cookies: call{path: "/login"}.do(t, d).Cookies()},
		"another site":    {body: v, cookies: form.Cookies(), origin: "https://evil.example"},
	} {
		c.method, c.path = "POST", "/login"
		r := c.do(t, d)
		if r.StatusCode != 403 {
			t.Errorf("%s: got %d", name, r.StatusCode)
		}
	}
	// The form's own cookie is no session, and no other way in either.
	if r := (call{path: "/", cookies: []*http.Cookie{{Name: cookieName, Value: form.Cookies()[0].Value}}}).do(t, d); r.StatusCode != 401 {
		t.Errorf("the form's cookie as a session: %d", r.StatusCode)
	}

	for range access.MaxFailures {
		signIn(t, d, "wrong")
	}
	if r := signIn(t, d, "correct horse"); r.StatusCode != 429 || r.Header.Get("Retry-After") == "" {
		t.Errorf("after too many attempts: %d", r.StatusCode)
	}
	if r := (call{path: "/", auth: true}).do(t, d); r.StatusCode != 401 {
		t.Errorf("after too many attempts, by Basic authentication: %d", r.StatusCode)
	}
	now = now.Add(access.Window)
	if r := signIn(t, d, "correct horse"); r.StatusCode != 303 {
		t.Errorf("a minute later: %d", r.StatusCode)
	}
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
	for name, o := range map[string]Options{
		"no Queue":      {},
		"GitHub is no":  {Queue: &still{}, GitHub: "github"},
		"make a key":    {Queue: &still{}, Random: strings.NewReader("short")},
		"GitHub is no ": {Queue: &still{}, GitHub: "http://[::1"},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
