package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// noon is the time of the tests.
func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// A still is a queue with the constant tasks of a test case.
type still struct {
	queue.Queue // nil: only the methods below are called

	Stats_ queue.Stats  `json:"stats"`
	Tasks  []stillTask  `json:"tasks"`
	Fails  bool         `json:"fails"`
	filter queue.Filter // of the last List
	err    error        // of Retry, AskAgain and Cancel
	did    []string     // calls of Retry, AskAgain and Cancel, as "retry id by"
}

// A stillTask is a task whose texts can be written as JSON in a test case.
type stillTask struct {
	queue.Info

	Message, Origin, Result, Report json.RawMessage
	Broken                          string // a message that is not JSON
	Log                             []queue.Entry
}

func (t stillTask) details() queue.Details {
	d := queue.Details{Info: t.Info, Message: t.Message, Origin: t.Origin, Result: t.Result, Report: t.Report, Log: t.Log}
	if t.Broken != "" {
		d.Message = []byte(t.Broken)
	}
	return d
}

func (s *still) Stats(context.Context) (queue.Stats, error) {
	if s.Fails {
		return queue.Stats{}, queue.ErrUnavailable
	}
	return s.Stats_, nil
}

func (s *still) list(_ context.Context, f queue.Filter) ([]queue.Info, error) {
	if s.Fails {
		return nil, queue.ErrUnavailable
	}
	s.filter = f
	var out []queue.Info
	for _, t := range s.Tasks {
		if len(out) < f.Limit && (f.State == "" || f.State == t.State) && (f.Repo == "" || f.Repo == t.Repo) &&
			(f.Before == 0 || t.Seq < f.Before) {
			out = append(out, t.Info)
		}
	}
	return out, nil
}

func (s *still) Search(ctx context.Context, f queue.Filter) (p queue.Page, err error) {
	limit := f.Limit
	f.Limit++
	if p.Tasks, err = s.list(ctx, f); len(p.Tasks) > limit {
		p.Tasks, p.Next = p.Tasks[:limit], p.Tasks[limit-1].Seq
	}
	return p, err
}

func (s *still) Inspect(_ context.Context, id string) (queue.Details, error) {
	if s.Fails {
		return queue.Details{}, queue.ErrUnavailable
	}
	for _, t := range s.Tasks {
		if t.ID == id {
			return t.details(), nil
		}
	}
	return queue.Details{}, queue.ErrNotFound
}

func (s *still) Retry(_ context.Context, t queue.Seen, by string) (queue.State, error) {
	s.did = append(s.did, "retry "+t.ID+" "+by)
	return queue.Pending, s.err
}

func (s *still) AskAgain(_ context.Context, t queue.Seen, by, reason string) (queue.State, error) {
	s.did = append(s.did, "ask "+t.ID+" "+by+" "+reason)
	return queue.Pending, s.err
}

func (s *still) Cancel(_ context.Context, t queue.Seen, by string) error {
	s.did = append(s.did, "cancel "+t.ID+" "+by)
	return s.err
}

func (s *still) Watch() (<-chan queue.Change, func()) { return nil, func() {} }

// ada is the only operator.
func ada(name, secret string) bool { return name == "ada" && secret == "correct horse" }

// serve returns a dashboard. It fills in options that the test did not set.
func serve(t *testing.T, o Options) *Dashboard {
	t.Helper()
	if o.Now == nil {
		o.Now = noon
	}
	if o.Queue == nil {
		o.Queue = &still{}
	}
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A call is a request to the dashboard.
type call struct {
	method, path, body string
	host, origin, site string // site is Sec-Fetch-Site
	auth               bool   // sends ada's credentials by Basic authentication
	cookies            []*http.Cookie
	tls                bool
}

func (c call) do(t *testing.T, d http.Handler) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), cmp.Or(c.method, "GET"), c.path, strings.NewReader(c.body))
	r.Host = cmp.Or(c.host, "localhost:8000")
	if !c.tls {
		r.TLS = nil
	}
	if c.body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.origin != "" {
		r.Header.Set("Origin", c.origin)
	}
	if c.site != "" {
		r.Header.Set("Sec-Fetch-Site", c.site)
	}
	if c.auth {
		r.SetBasicAuth("ada", "correct horse")
	}
	for _, k := range c.cookies {
		r.AddCookie(k)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// between returns the part of s between two texts.
func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}
