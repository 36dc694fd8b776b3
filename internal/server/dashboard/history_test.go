package dashboard

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// recorded returns a database with some tasks of the last hours, and calls to GitHub.
func recorded(t *testing.T, clock *queuetest.Clock, names ...string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	q, ctx := s.Queue(), t.Context()
	for i, name := range names {
		_, err := q.Enqueue(ctx, queue.Task{ID: name, Agent: name, Repo: name, Issue: i + 1, Message: []byte("{}")})
		check(err)
		clock.Advance(time.Duration(i+1) * 10 * time.Second)
		_, err = q.ClaimNext(ctx, name, queue.ClaimOptions{Lease: time.Hour})
		check(err)
		clock.Advance(3 * time.Second)
		_, err = q.Complete(ctx, queue.Ref{ID: name, Attempt: 1}, []byte("{}"))
		check(err)
		list, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "test", Lease: time.Hour, Limit: 9})
		check(err)
		for _, d := range list {
			check(q.MarkDone(ctx, d.Lease, []byte(`{"version":1,"status":"applied"}`)))
		}
		check(s.History().RecordBudget(ctx, []history.Budget{{Account: name, Calls: 3, Remaining: 4000 - i, Limit: 5000}}))
		clock.Advance(20 * time.Minute)
	}
	return s
}

// TestHistory shows the charts and the same numbers as a table.
func TestHistory(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	s := recorded(t, clock, "http://a", "http://b")
	d := serve(t, Options{Queue: s.Queue(), History: s.History(), Operators: ada, Now: clock.Now})
	tests := []struct {
		path   string
		status int
		want   []string
	}{
		{"/history", 200, []string{
			"History of the last 24 hours", `aria-label="Tasks, tasks in 15 minutes"`, `aria-label="Waiting for a claim, time a task took"`,
			`aria-label="Calls left of GitHub&#39;s hour, lowest number of calls"`, "carried out</dt><dd>2</dd>",
			`<th scope="row">all</th><td class="number">2</td><td class="number">2</td><td class="number">2</td><td class="number">0</td><td class="number">9.97 s, 20.7 s</td>`,
			`<th scope="row">http://b</th><td class="number">3</td><td class="number">3999 of 5000</td>`, `<a href="/history?range=24h" aria-current="page">`,
		}},
		{"/history?range=1h&agent=http%3A%2F%2Fa", 200, []string{"last hour", `value="http://a"`, `/history?agent=http%3A%2F%2Fa&amp;range=7d`, "dd>1</dd>"}},
		{"/history?range=90d&repo=o/none", 200, []string{"No task was received or ended in this time."}},
		{"/history?range=2h", 400, []string{"the range must be one of"}},
		{"/history?reop=o/r", 400, []string{"unknown key"}},
		{"/", 200, []string{`<a href="/history">History</a>`}},
	}
	for _, tt := range tests {
		r := call{path: tt.path, auth: true}.do(t, d)
		page := "<main" + between(text(t, r), "<main", "</main>")
		if r.StatusCode != tt.status {
			t.Errorf("%s: got status %d, want %d", tt.path, r.StatusCode, tt.status)
		}
		for _, want := range tt.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.path, want, page)
			}
		}
	}
	if r := (call{path: "/history"}).do(t, d); r.StatusCode == http.StatusOK {
		t.Error("the history is shown to a visitor who is not signed in")
	}
	without := serve(t, Options{})
	if page := text(t, call{path: "/"}.do(t, without)); strings.Contains(page, "/history") {
		t.Error("a server without a history links to it")
	}
	if r := (call{path: "/history"}).do(t, without); r.StatusCode != http.StatusNotFound {
		t.Errorf("no history: got status %d, want 404", r.StatusCode)
	}
}

// TestHistoryHostile shows names that try to become elements, attributes, styles or scripts.
func TestHistoryHostile(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	names := []string{`"><script>alert(1)</script>`, `</svg><img src=x onerror=alert(1)>`, "a\u202eb\x1b[31m", strings.Repeat("W", 2000), `' onclick='x`}
	s := recorded(t, clock, names...)
	d := serve(t, Options{Queue: s.Queue(), History: s.History(), Now: clock.Now})
	for _, path := range []string{"/history", "/history?agent=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/history?range=%22%3E%3Cscript%3E"} {
		page := text(t, call{path: path}.do(t, d))
		page = between(page, "<main", "</main>")
		if page == "" {
			t.Fatalf("%s: no page", path)
		}
		if m := regexp.MustCompile(`(?i)<script|<img|<[^>]* on\w+=|style=|javascript:`).FindString(page); m != "" || strings.ContainsAny(page, "\u202e\x1b") {
			t.Errorf("%s: %q in\n%s", path, m, page)
		}
		if strings.Contains(page, strings.Repeat("W", 100)) {
			t.Errorf("%s: a long name is not shortened", path)
		}
	}
}
