package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

const hostileReason = "<script>alert(1)</script>\u202e\x1b[31m\nsecond line"

// press sends a form about pauses as the operator's browser does, and returns the response and its page.
func press(t *testing.T, d *Dashboard, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	r := call{method: "POST", path: path, body: form.Encode(), auth: true, site: "same-origin"}.do(t, d)
	return r, text(t, r)
}

// page returns a page as the operator sees it.
func page(t *testing.T, d *Dashboard, path string) string {
	t.Helper()
	return text(t, call{method: "GET", path: path, auth: true}.do(t, d))
}

// TestPauses pauses and resumes on the page. Every page shows the pauses, with a button to resume.
func TestPauses(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{Now: noon})
	addFailed(t, q, 1, 1)
	d := serve(t, Options{Queue: q, Pauses: q, Configured: filter.NewConfigured(nil, []string{"octo/forge"}), Operators: ada})
	if got := page(t, d, "/"); strings.Contains(got, `class="paused"`) || !strings.Contains(got, `action="/pause"`) {
		t.Fatalf("the page before a pause:\n%s", got)
	}
	form := url.Values{"kind": {"repository"}, "name": {"Octo/Forge"}, "reason": {hostileReason}}
	for _, want := range []string{"/?did=paused", "/?did=already"} {
		if r, body := press(t, d, "/pause", form); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Fatalf("got status %d and %q, want %s:\n%s", r.StatusCode, r.Header.Get("Location"), want, body)
		}
	}
	list, err := q.ListPauses(t.Context(), true)
	if err != nil || len(list) != 1 || list[0].By != "ada" || list[0].Reason != hostileReason {
		t.Fatalf("got %+v, %v", list, err)
	}
	for _, path := range []string{"/", "/tasks/id-1"} {
		got := page(t, d, path)
		if !strings.Contains(got, "the repository Octo/Forge") || !strings.Contains(got, "by ada") || !strings.Contains(got, "&lt;script&gt;alert(1)") || !strings.Contains(got, `action="/resume"`) {
			t.Errorf("%s does not show the pause:\n%s", path, got)
		}
		for _, bad := range []string{"<script>alert", "\u202e", "\x1b"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	const warning = "<b>Warning: this repository is not configured.</b>"
	if got := page(t, d, "/"); strings.Contains(got, "Warning") {
		t.Errorf("a warning of a configured repository:\n%s", got)
	}
	if _, _, err := q.Pause(t.Context(), queue.Scope{Kind: queue.ScopeRepo, Name: "octo/forgery"}, "ada", ""); err != nil {
		t.Fatal(err)
	}
	if got := page(t, d, "/"); strings.Count(got, warning) != 1 {
		t.Errorf("no warning:\n%s", got)
	}
	if _, _, err := q.Resume(t.Context(), queue.Scope{Kind: queue.ScopeRepo, Name: "octo/forgery"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/?did=resumed", "/?did=unpaused"} {
		if r, body := press(t, d, "/resume", url.Values{"kind": {"repository"}, "name": {"octo/forge"}}); r.Header.Get("Location") != want {
			t.Errorf("got %q, want %s:\n%s", r.Header.Get("Location"), want, body)
		}
	}
	if got := page(t, d, "/?did=resumed"); strings.Contains(got, `class="paused"`) || !strings.Contains(got, "It is resumed.") {
		t.Errorf("the page after the pause:\n%s", got)
	}
}

// TestPauseRefused sends forms that must change nothing.
func TestPauseRefused(t *testing.T) {
	t.Parallel()
	everything := url.Values{"kind": {"everything"}}.Encode()
	tests := []struct {
		name   string
		call   call
		o      Options
		status int
	}{
		{"no operators", call{body: everything}, Options{}, http.StatusForbidden},
		{"not signed in", call{body: everything, site: "same-origin"}, Options{Operators: ada}, http.StatusUnauthorized},
		{"another site", call{body: everything, auth: true, site: "cross-site"}, Options{Operators: ada}, http.StatusForbidden},
		{"no kind", call{auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
		{"no name", call{body: "kind=agent", auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
		{"no address", call{body: "kind=agent&name=triage", auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
		{"everything and a name", call{body: "kind=everything&name=octo/forge", auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
		{"the rules and a name", call{body: "kind=rules&name=octo/forge", auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
		{"a wrong name", call{body: "kind=repository&name=nowhere", auth: true, site: "same-origin"}, Options{Operators: ada}, http.StatusBadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/pause", "/resume"} {
				q := queue.New(queue.Options{Now: noon})
				if _, _, err := q.Pause(t.Context(), queue.Scope{Kind: queue.ScopeRules}, "somebody", ""); err != nil {
					t.Fatal(err)
				}
				tt.o.Queue, tt.o.Pauses = q, q
				tt.call.method, tt.call.path = "POST", path
				if r := tt.call.do(t, serve(t, tt.o)); r.StatusCode != tt.status {
					t.Errorf("%s: got status %d, want %d:\n%s", path, r.StatusCode, tt.status, text(t, r))
				}
				if list, err := q.ListPauses(t.Context(), true); err != nil || len(list) != 1 {
					t.Errorf("%s: got %+v, %v", path, list, err)
				}
			}
		})
	}
}
