package dashboard

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// bulkQueue returns a queue with n failed tasks. The issue of task i has the number and the title i.
func bulkQueue(t *testing.T, n int) queue.Queue {
	t.Helper()
	q := queue.New(queue.Options{Now: noon})
	addFailed(t, q, 1, n)
	return q
}

func addFailed(t *testing.T, q queue.Queue, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		task := queue.Task{
			ID: fmt.Sprintf("id-%d", i), Agent: "http://a", Repo: "octo/forge", Issue: i, Title: fmt.Sprintf("Crash %d", i), Delivery: fmt.Sprintf("delivery-%d", i),
			Message: fmt.Appendf(nil, `{"payload":{"title":"Crash %d"}}`, i),
		}
		if _, err := q.Enqueue(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if err := q.Cancel(t.Context(), queue.Seen{ID: task.ID}, "test"); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	inputs  = regexp.MustCompile(`<input type="hidden"(?: form="bulk")? name="([^"]*)" value="([^"]*)">`)
	heading = regexp.MustCompile(`<h1>([^<]*)</h1>`)
)

// fields returns the hidden fields of the form for bulk acts on a page.
func fields(page string) url.Values {
	v := url.Values{}
	for _, m := range inputs.FindAllStringSubmatch(page, -1) {
		v.Add(m[1], html.UnescapeString(m[2]))
	}
	return v
}

// submit sends a form as a browser does, and returns the page.
func submit(t *testing.T, d *Dashboard, form url.Values, status int) string {
	t.Helper()
	r := call{method: "POST", path: "/bulk", body: form.Encode(), auth: true, site: "same-origin"}.do(t, d)
	page := text(t, r)
	if r.StatusCode != status {
		t.Fatalf("got status %d, want %d:\n%s", r.StatusCode, status, page)
	}
	return page
}

func title1(t *testing.T, page string) string {
	t.Helper()
	m := heading.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no heading:\n%s", page)
	}
	return m[1]
}

// TestBulk selects tasks on the list, confirms, and changes them.
func TestBulk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, list, which, verb string
		ids                     []string
		confirm, result         string
		changed                 int // tasks that are not failed any more
	}{
		{"checked", "/", "checked", "retry", []string{"failed.0.0 id-3", "failed.0.0 id-59"}, "Retry 2 tasks?", "2 tasks changed", 2},
		{"a page", "/", "page", "ask-again", nil, "Ask again about 50 tasks?", "50 tasks changed", 50},
		{"another page", "/?before=11", "page", "retry", nil, "Retry 10 tasks?", "10 tasks changed", 10},
		{"all", "/", "filter", "retry", nil, "Retry 60 tasks?", "60 tasks changed", 60},
		{"all from another page", "/?before=11", "filter", "retry", nil, "Retry 60 tasks?", "60 tasks changed", 60},
		{"a filter", "/?q=crash+1", "filter", "retry", nil, "Retry 15 tasks?", "15 tasks changed", 15},
		{"the wrong state", "/?state=failed", "page", "release", nil, "Release 50 tasks?", "0 tasks changed", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := bulkQueue(t, 60)
			d := serve(t, Options{Queue: q, Operators: ada})
			form := fields(text(t, call{path: tt.list, auth: true}.do(t, d)))
			form.Set("which", tt.which)
			form.Set("verb", tt.verb)
			form["task"] = tt.ids
			confirm := submit(t, d, form, 200)
			if got := title1(t, confirm); got != tt.confirm {
				t.Errorf("got %q, want %q", got, tt.confirm)
			}
			if n := changed(t, q); n != 0 {
				t.Errorf("%d tasks were changed without a confirmation", n)
			}
			addFailed(t, q, 61, 62) // they were not counted
			result := submit(t, d, fields(confirm), 200)
			if got := title1(t, result); got != tt.result || strings.Contains(result, "<button class=") {
				t.Errorf("got %q, want %q:\n%s", got, tt.result, result)
			}
			if n := changed(t, q); n != tt.changed {
				t.Errorf("%d tasks were changed, want %d", n, tt.changed)
			}
		})
	}
}

// TestBulkMeanwhile changes a task after an operator has checked it. The act must skip it and give the
// reason.
func TestBulkMeanwhile(t *testing.T) {
	t.Parallel()
	q := bulkQueue(t, 2)
	d := serve(t, Options{Queue: q, Operators: ada})
	form := fields(text(t, call{path: "/", auth: true}.do(t, d)))
	form.Set("which", "page")
	form.Set("verb", "ask-again")
	confirm := submit(t, d, form, 200)
	if !strings.Contains(confirm, `id-1</a>, failed</li>`) {
		t.Errorf("the state is missing:\n%s", confirm)
	}
	if _, err := q.Retry(t.Context(), queue.Seen{ID: "id-1"}, "bob"); err != nil {
		t.Fatal(err)
	}
	c, err := q.ClaimNext(t.Context(), "http://a", queue.ClaimOptions{Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.FailClaim(t.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, "no"); err != nil { // it is failed again
		t.Fatal(err)
	}
	result := submit(t, d, fields(confirm), 200)
	if title1(t, result) != "1 task changed" || !strings.Contains(result, `id-1</a>, it has changed meanwhile</li>`) {
		t.Errorf("got\n%s", result)
	}
	if got, err := q.Inspect(t.Context(), "id-1"); err != nil || got.State != queue.Failed || got.Asks != 0 {
		t.Errorf("got %+v, %v", got.Info, err)
	}
	page := call{method: "POST", path: "/tasks/id-1/ask-again", body: url.Values{"seen": form["page"][1:]}.Encode(), auth: true, site: "same-origin"}.do(t, d)
	if body := text(t, page); page.StatusCode != http.StatusConflict || !strings.Contains(body, "the task has changed meanwhile") {
		t.Errorf("got status %d\n%s", page.StatusCode, body)
	}
}

// changed returns the number of tasks that are not failed.
func changed(t *testing.T, q queue.Queue) int {
	t.Helper()
	s, err := q.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.States[queue.Pending]
}

// TestBulkSteps changes more tasks than one step does.
func TestBulkSteps(t *testing.T) {
	t.Parallel()
	q := bulkQueue(t, 1005)
	d := serve(t, Options{Queue: q, Operators: ada})
	page := submit(t, d, url.Values{"verb": {"ask-again"}, "which": {"filter"}, "filter": {"state=failed"}}, 200)
	if !strings.Contains(page, "Each step changes at most 1000 tasks") {
		t.Errorf("no hint:\n%s", page)
	}
	form := fields(page)
	form.Set("reason", "because")
	page = submit(t, d, form, 200)
	if got := title1(t, page); got != "1000 tasks changed" {
		t.Fatalf("got %q", got)
	}
	page = submit(t, d, fields(page), 200)
	if got := title1(t, page); got != "5 tasks changed" || changed(t, q) != 1005 {
		t.Errorf("got %q, and %d were changed", got, changed(t, q))
	}
	details, err := q.Inspect(t.Context(), "id-1")
	if last := details.Log[len(details.Log)-1]; err != nil || last.Who != "ada" || !strings.Contains(last.Text, "because") {
		t.Errorf("got %+v, %v", last, err)
	}
}

// TestBulkRefused sends forms that must change nothing.
func TestBulkRefused(t *testing.T) {
	t.Parallel()
	form := func(pairs ...string) string {
		v := url.Values{"confirm": {"yes"}}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v.Encode()
	}
	all := form("verb", "retry", "which", "filter", "filter", "state=failed")
	tests := []struct {
		name   string
		call   call
		status int
		says   string
	}{
		{"no operator", call{body: all, site: "same-origin"}, http.StatusUnauthorized, "Sign in"},
		{"another site", call{body: all, auth: true, site: "cross-site"}, http.StatusForbidden, "another site"},
		{"no browser", call{body: all, auth: true}, http.StatusForbidden, ""},
		{"no task", call{body: form("verb", "retry", "which", "checked"), auth: true, site: "same-origin"}, 422, "no task was selected"},
		{"no verb", call{body: form("which", "filter", "filter", ""), auth: true, site: "same-origin"}, 422, "want one of the verbs"},
		{"no state", call{body: form("verb", "cancel", "which", "filter", "filter", ""), auth: true, site: "same-origin"}, 422, "cancel changes tasks in the state pending, claimed, completed; name one of them"},
		{"a misspelt filter", call{body: form("verb", "retry", "which", "filter", "filter", "stat=failed"), auth: true, site: "same-origin"}, 422, "unknown key"},
		{"not a filter", call{body: form("verb", "retry", "which", "filter", "filter", "%zz"), auth: true, site: "same-origin"}, 422, "the filter cannot be read"},
		{"no version", call{body: form("verb", "retry", "which", "checked", "task", "id-1"), auth: true, site: "same-origin"}, 422, "a task has no version"},
		{"a wrong version", call{body: form("verb", "retry", "which", "checked", "task", "<b>.0.0 id-1"), auth: true, site: "same-origin"}, 422, "want a version such as failed.2.1"},
		{"too long", call{body: form("verb", "retry", "which", "checked", "task", strings.Repeat("a", 20_000)), auth: true, site: "same-origin"}, 422, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := bulkQueue(t, 3)
			d := serve(t, Options{Queue: q, Operators: ada})
			tt.call.method, tt.call.path = "POST", "/bulk"
			r := tt.call.do(t, d)
			if page := text(t, r); r.StatusCode != tt.status || !strings.Contains(page, tt.says) {
				t.Errorf("got status %d, want %d and %q in\n%s", r.StatusCode, tt.status, tt.says, page)
			}
			if n := changed(t, q); n != 0 {
				t.Errorf("%d tasks were changed", n)
			}
		})
	}
	t.Run("no operators", func(t *testing.T) {
		t.Parallel()
		q := bulkQueue(t, 3)
		r := call{method: "POST", path: "/bulk", body: all, site: "same-origin"}.do(t, serve(t, Options{Queue: q}))
		if r.StatusCode != http.StatusForbidden || changed(t, q) != 0 {
			t.Errorf("got status %d, and %d tasks were changed", r.StatusCode, changed(t, q))
		}
	})
}

// TestFind follows what a person types into the search box.
func TestFind(t *testing.T) {
	t.Parallel()
	d := serve(t, Options{Queue: bulkQueue(t, 12)})
	tests := []struct {
		q    string
		rows int
	}{
		{"crash 11", 1},
		{"CRASH", 12},
		{"octo/forge#7", 1},
		{"https://github.com/octo/forge/issues/7", 1},
		{"nothing", 0},
	}
	for _, tt := range tests {
		r := call{path: "/?q=" + url.QueryEscape(tt.q)}.do(t, d)
		if n := strings.Count(text(t, r), ">details</a>"); r.StatusCode != 200 || n != tt.rows {
			t.Errorf("%s: got status %d and %d tasks, want %d", tt.q, r.StatusCode, n, tt.rows)
		}
	}
	for id, want := range map[string]string{"id-7": "/tasks/id-7", "delivery-7": "", "id-99": ""} {
		r := call{path: "/?id=" + id}.do(t, d)
		if got := r.Header.Get("Location"); got != want {
			t.Errorf("%s: got a redirection to %q, want %q", id, got, want)
		}
	}
	if page := text(t, call{path: "/?id=delivery-7"}.do(t, d)); strings.Count(page, ">details</a>") != 1 || !strings.Contains(page, "Crash 7") {
		t.Errorf("by the delivery:\n%s", page)
	}
}

// FuzzBulk sends arbitrary forms. The answer must be a page, and no form without "confirm" may change a task.
func FuzzBulk(f *testing.F) {
	f.Add("verb=retry&which=filter&filter=state%3Dfailed")
	f.Add("verb=cancel&which=checked&task=failed.0.0+id-1&task=failed.0.0+%3Cscript%3E")
	f.Add("verb=ask-again&which=page&page=pending.1.2+%e2%80%ae&reason=x")
	f.Fuzz(func(t *testing.T, body string) {
		q := bulkQueue(t, 2)
		d := serve(t, Options{Queue: q, Operators: ada})
		r := call{method: "POST", path: "/bulk", body: body, auth: true, site: "same-origin"}.do(t, d)
		if page := text(t, r); strings.Count(page, "<script>") != 1 || !strings.Contains(page, "</html>") {
			t.Errorf("the page is broken:\n%s", page)
		}
		if v, err := url.ParseQuery(body); err == nil && v.Get("confirm") == "" && changed(t, q) != 0 {
			t.Errorf("%q changed tasks", body)
		}
	})
}
