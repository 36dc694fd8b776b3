package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// A historyRig is a server on a database, with an operator and an agent.
type historyRig struct {
	*testing.T

	clock *queuetest.Clock
	store *sqlite.Store
	url   string
	log   bytes.Buffer
	close func() // ends the server; may be called repeatedly
}

func newHistoryRig(t *testing.T, wrap func(queue.Queue) queue.Queue) *historyRig {
	t.Helper()
	r := &historyRig{T: t, clock: queuetest.NewClock()}
	var err error
	if r.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{Now: r.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.store.Close() })
	o := api.Options{Queue: wrap(r.store.Queue()), History: r.store.History(), Now: r.clock.Now, Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	if o.Credentials, err = access.NewCredentials([]access.Credential{
		{Name: "ann", Secret: secret.Text("s3cret-of-ann"), Operator: true}, {Name: "ci", Secret: secret.Text("s3cret-of-ci"), Agents: []string{"http://a/"}},
	}); err != nil {
		t.Fatal(err)
	}
	server, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	r.url, r.close = s.URL, s.Close
	return r
}

func same(q queue.Queue) queue.Queue { return q }

// enqueue adds done tasks.
func (r *historyRig) enqueue(n int, task queue.Task) {
	r.Helper()
	for i := range n {
		t := task
		t.ID, t.Issue = fmt.Sprintf("%s%d", task.ID, i), i+1
		if _, err := r.store.Queue().Enqueue(r.Context(), t); err != nil {
			r.Fatal(err)
		}
	}
}

// finish carries out all decisions.
func (r *historyRig) finish(report string) {
	r.Helper()
	list, err := r.store.Queue().LeaseDecisions(r.Context(), queue.DrainOptions{Owner: "test", Lease: time.Hour, Limit: 1000})
	if err != nil {
		r.Fatal(err)
	}
	for _, d := range list {
		if err := r.store.Queue().MarkDone(r.Context(), d.Lease, []byte(report)); err != nil {
			r.Fatal(err)
		}
	}
}

// get requests a path with a secret. A broken connection is an error.
func (r *historyRig) get(path, secret string) (status int, body string, err error) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return res.StatusCode, string(data), err
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := newHistoryRig(t, same)
	r.enqueue(3, queue.Task{ID: "t", Repo: "o/r", Message: []byte("{}")})
	r.clock.Advance(2 * time.Second)
	r.finish(`{"version":1,"status":"applied"}`)
	for _, tt := range []struct {
		query, secret string
		status        int
		want          []string
	}{
		{"", "s3cret-of-ann", 200, []string{`"range":"24h"`, `"step_seconds":900`, `"received":3,"decided":3,"done":3,"failed":0,"outcomes":{"applied":3}`, `"p50_seconds":1.9`, `"budgets":[]`}},
		{"?range=30d&repo=O/R", "s3cret-of-ann", 200, []string{`"range":"30d","repo":"O/R"`, `"done":3`}},
		{"?repo=o/other", "s3cret-of-ann", 200, []string{`"total":{"received":0`}},
		{"?range=2h", "s3cret-of-ann", 422, []string{"the range must be one of 1h, 24h, 7d, 30d, 90d"}},
		{"?range=1h&range=7d", "s3cret-of-ann", 422, []string{"want it once"}},
		{"?reop=o/r", "s3cret-of-ann", 422, []string{"unknown key"}},
		{"?repo=o", "s3cret-of-ann", 422, []string{"want owner/name"}},
		{"", "s3cret-of-ci", 403, []string{"does not permit"}},
		{"", "wrong", 401, nil},
	} {
		status, body, err := r.get("/queue/history"+tt.query, tt.secret)
		if status != tt.status || err != nil {
			t.Errorf("%s: got %d, %v, want %d; %s", tt.query, status, err, tt.status, body)
		}
		for _, part := range tt.want {
			if !strings.Contains(body, part) {
				t.Errorf("%s: got %s, want %s in it", tt.query, body, part)
			}
		}
	}
}

// TestExport follows an export in parts, and checks that each task has one line.
func TestExport(t *testing.T) {
	t.Parallel()
	r := newHistoryRig(t, same)
	r.enqueue(450, queue.Task{ID: "t", Repo: "o/r", Message: []byte(`{"payload":
		{"title":"a"}}`)})
	r.enqueue(3, queue.Task{ID: "other", Repo: "o/other", Agent: "http://a/", Message: []byte("not JSON")})
	r.clock.Advance(2500 * time.Millisecond)
	r.finish(`{"version":1,"status":"applied","by":"rules","decision":"skip","executed":1,"actions":[]}`)
	seen := map[string]bool{}
	for before, parts := int64(0), 0; ; parts++ {
		query := "/queue/export?limit=205"
		if before > 0 {
			query += fmt.Sprintf("&before=%d", before)
		}
		status, body, err := r.get(query, "s3cret-of-ann")
		if status != 200 || err != nil || parts > 5 {
			t.Fatal(status, body, err)
		}
		for line := range strings.Lines(body) {
			var task struct {
				Seq      int64   `json:"seq"`
				ID       string  `json:"task_id"`
				Outcome  string  `json:"outcome"`
				Applying float64 `json:"applying_seconds"`
				Executed int     `json:"executed"`
			}
			if err := json.Unmarshal([]byte(line), &task); err != nil || seen[task.ID] {
				t.Fatalf("line %q: %v; seen before: %v", line, err, seen[task.ID])
			}
			if strings.HasPrefix(task.ID, "t") && (task.Outcome != "applied" || task.Applying != 2.5 || task.Executed != 1) {
				t.Errorf("got %s", line)
			}
			seen[task.ID], before = true, task.Seq
		}
		if body == "" {
			break
		}
	}
	if len(seen) != 453 {
		t.Errorf("got %d tasks, want 453", len(seen))
	}
	for query, want := range map[string]string{
		"?repo=o/other&payload=1&limit=1": `"message":"not JSON"`,
		"?id=t7&payload=true":             `"message":{"payload":{"title":"a"}}`,
		"?state=failed":                   "",
	} {
		if status, body, err := r.get("/queue/export"+query, "s3cret-of-ann"); status != 200 || err != nil || !strings.Contains(body, want) || strings.Count(body, "\n") > 1 {
			t.Errorf("%s: got %d, %v, %s", query, status, err, body)
		}
	}
	for query, want := range map[string]string{"?payload=x": "true or false", "?state=lost": "want one of", "?stat=done": "unknown key"} {
		if status, body, _ := r.get("/queue/export"+query, "s3cret-of-ann"); status != 422 || !strings.Contains(body, want) {
			t.Errorf("%s: got %d, %s", query, status, body)
		}
	}
	if status, _, _ := r.get("/queue/export", "s3cret-of-ci"); status != 403 {
		t.Errorf("an agent: got %d, want 403", status)
	}
}

// A breakingQueue fails to read the second page of tasks, or the first.
type breakingQueue struct {
	queue.Queue

	first bool
}

func (q breakingQueue) Search(ctx context.Context, f queue.Filter) (queue.Page, error) {
	if q.first || f.Before > 0 {
		return queue.Page{}, errors.New("the disk is gone")
	}
	return q.Queue.Search(ctx, f)
}

// TestExportBreaks checks that an export that fails is not mistaken for a complete one.
func TestExportBreaks(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		r := newHistoryRig(t, func(q queue.Queue) queue.Queue { return breakingQueue{q, first} })
		r.enqueue(250, queue.Task{ID: "t", Repo: "o/r", Message: []byte("{}")})
		status, body, err := r.get("/queue/export", "s3cret-of-ann")
		r.close() // waits for the line in the log
		if first && (status < 500 || strings.Contains(body, "task_id")) {
			t.Errorf("the first page: got %d, %s, want an error", status, body)
		}
		if !first && (err == nil || !strings.Contains(r.log.String(), "before=51")) {
			t.Errorf("the second page: got %d with %d bytes and no error, and the log %s", status, len(body), r.log.String())
		}
	}
}
