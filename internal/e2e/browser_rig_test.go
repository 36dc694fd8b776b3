package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/queue"
)

var shots = flag.String("shots", "", "`directory` for pictures of the dashboard; empty: none are made")

// patience is how long a test waits for a page.
const patience = 2 * time.Minute

const browserAgent = "http://agent.example:9001"

// A station is a server with a dashboard, and its queue in memory.
type station struct {
	t       *testing.T
	q       *queue.InMemory
	address string
	stop    func()
	creds   *access.Credentials
	well    bool // whether all parts of the server report that they work
}

// newStation starts a server on this machine. If operator is set, the operator ada can sign in
// with "correct horse".
func newStation(t *testing.T, operator bool) *station {
	t.Helper()
	at, err := freeport.Find(t.Context()) // it stays free while the server is stopped
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t: t, q: queue.New(queue.Options{}), address: at.String()}
	var list []access.Credential
	if operator {
		list = append(list, access.Credential{Name: "ada", Secret: "correct horse", Operator: true})
	}
	if s.creds, err = access.NewCredentials(list); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

// start starts the server, always on the same address.
func (s *station) start() {
	s.t.Helper()
	o := dashboard.Options{Queue: s.q, Pauses: s.q, Every: 200 * time.Millisecond, Health: func(context.Context) []dashboard.Health {
		if s.well {
			var list []dashboard.Health
			for _, name := range []string{"agent triage", "loop decisions", "loop dispatch", "loop maintenance", "loop polling", "memory", "polling octo/forge", "queue"} {
				list = append(list, dashboard.Health{Name: name, OK: true})
			}
			return list
		}
		return []dashboard.Health{{Name: "database", OK: true}, {Name: "drain", OK: true}, {Name: "poll octo/forge", Detail: "GitHub says 401"}}
	}}
	if !s.well {
		report := manyCalls() // its times must not change, or each check of an open page would be a change
		o.Budget = func() budget.Report { return report }
	}
	if _, operators := s.creds.Configured(); operators {
		o.Operators = s.creds.Operator
	}
	page, err := dashboard.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	srv, err := api.New(api.Options{Queue: s.q, Credentials: s.creds, Dashboard: page})
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l) }()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
}

// manyCalls is the calls of more repositories than the page shows, and of accounts with long names. It returns the
// same at each call, because the page loads again when it changes.
func manyCalls() budget.Report {
	r := budget.Report{Accounts: []budget.Account{
		{Name: "the-triage-bot-of-a-large-organisation[bot]", Resource: "core", Calls: 812, Left: 312, Limit: 5000, Reset: time.Now().Truncate(time.Hour).Add(time.Hour)},
		{Name: "octo", Resource: "graphql", Left: 5000, Limit: 5000},
	}}
	for n := range 25 {
		r.Repositories = append(r.Repositories, budget.Repository{
			Name: fmt.Sprintf("octo/a-repository-with-a-name-that-is-quite-long-%d", n), Account: r.Accounts[0].Name, Calls: 100 - n, ForEvents: 90, Events: 30,
		})
	}
	return r
}

func (s *station) url(path string) string { return "http://" + s.address + path }

func browserTask(n int) string { return fmt.Sprintf("7d0c0000-0000-4000-8000-%012d", n) }

// enqueue adds a task about an issue with a title.
func (s *station) enqueue(n int, title string) string {
	s.t.Helper()
	message, err := json.Marshal(map[string]any{
		"task_id": browserTask(n), "type": "issue.triage", "repo": "octo/forge",
		"payload": map[string]any{"number": n, "title": title, "author": "mona"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.q.Enqueue(s.t.Context(), queue.Task{
		ID: browserTask(n), Agent: browserAgent, Repo: "octo/forge", Issue: n, Message: message, Title: title, Delivery: fmt.Sprintf("d0c0ffee-cc78-11e3-81ab-%012d", n),
		Origin: []byte(`{"event":"issues","source":"webhook","delivery":"d-1"}`),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return browserTask(n)
}

func (s *station) claim() {
	s.t.Helper()
	if _, err := s.q.ClaimNext(s.t.Context(), browserAgent, queue.ClaimOptions{By: "triage", Lease: time.Hour}); err != nil {
		s.t.Fatal(err)
	}
}

// complete stores a decision for a task: a label, and a comment with the rationale.
func (s *station) complete(id, rationale string) {
	s.t.Helper()
	d, err := json.Marshal(map[string]any{
		"task_id": id, "decision": "label_and_respond", "rationale": rationale,
		"actions": []any{map[string]any{"type": "add_label", "label": "bug"}, map[string]any{"type": "comment", "body": rationale}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.q.Complete(s.t.Context(), queue.Ref{ID: id}, d); err != nil {
		s.t.Fatal(err)
	}
}

func (s *station) lease() queue.Lease {
	s.t.Helper()
	list, err := s.q.LeaseDecisions(s.t.Context(), queue.DrainOptions{Owner: "host-1", Lease: time.Hour, Limit: 1})
	if err != nil || len(list) != 1 {
		s.t.Fatal(list, err)
	}
	return list[0].Lease
}

// finish marks a leased decision as carried out, with a report like the server's.
func (s *station) finish(h queue.Lease, rationale string) {
	s.t.Helper()
	rep, err := json.Marshal(map[string]any{
		"status": "applied", "event": "issues.opened", "decision": "label_and_respond", "rationale": rationale, "by": browserAgent, "executed": 2,
		"actions": []any{
			map[string]any{"index": 0, "type": "add_label", "action": map[string]any{"type": "add_label", "label": "bug"}, "verdict": "do", "result": "done"},
			map[string]any{
				"index": 1, "type": "comment", "action": map[string]any{"type": "comment", "body": rationale}, "verdict": "do", "result": "done",
				"url": "https://github.com/octo/forge/issues/1#issuecomment-1",
			},
			map[string]any{"index": 2, "type": "close_issue", "verdict": "skip", "result": "none", "reason": "allow_close is off"},
		},
		"warnings": []string{"the label was made anew"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.q.MarkDone(s.t.Context(), h, rep); err != nil {
		s.t.Fatal(err)
	}
}

func (s *station) state(id string) queue.State {
	s.t.Helper()
	d, err := s.q.Inspect(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return d.State
}

// needBrowser returns the path of a Chromium, or skips the test.
func needBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("FOREMAN_E2E_REQUIRE_BROWSER") != "" {
		t.Fatal("there is no Chromium")
	}
	t.Skip("Chromium is not installed: apt-get install chromium")
	return ""
}

// A tab is a page in a separate browser. Errors on the page fail the test.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	expected   []string // parts of errors that do not fail the test
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, stopBrowser := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(needBrowser(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience), chromedp.WindowSize(1280, 900))...)
	b := &tab{t: t}
	ctx, stop := chromedp.NewContext(ctx, chromedp.WithListener(b.listen))
	b.ctx = ctx
	t.Cleanup(func() {
		stop()
		stopBrowser()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.complaints {
			t.Errorf("the page complains: %s", c)
		}
	})
	// The first call starts the browser. The browser ends with the context of this call.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	return b
}

// listen records events that must not occur on a page: errors, refused resources and dialogs.
func (b *tab) listen(ev any) {
	complaint := ""
	switch e := ev.(type) {
	case *cdpruntime.EventExceptionThrown:
		complaint = "an exception: " + e.ExceptionDetails.Text
	case *cdpruntime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("console.%s", e.Type)
	case *log.EventEntryAdded:
		complaint = fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		complaint = "a dialog: " + e.Message
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.expected {
		if strings.Contains(complaint, part) {
			return
		}
	}
	if complaint != "" {
		b.complaints = append(b.complaints, complaint)
	}
}

// expect permits errors that contain part.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	get(b, chromedp.Steps(steps...))
}

// get runs an action and returns its result.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	out, err := chromedp.Run(ctx, a)
	if err != nil {
		b.fail(err)
	}
	return out
}

// call sends a command to the browser.
func call[P, R any](b *tab, cmd cdp.Command[P, R], params P) R {
	b.t.Helper()
	out, err := chromedp.Call(b.ctx, cmd, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *tab) fail(err error) {
	b.t.Helper()
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	b.t.Fatalf("%v; the page says:\n%s", err, text)
}

// do runs a script.
func (b *tab) do(script string) {
	b.t.Helper()
	get(b, chromedp.Evaluate[bool]("("+script+", true)"))
}

// eval runs a script and returns its result.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](script))
}

// until waits until a script returns a true value. The library's function for waiting cannot be
// used, because it needs a script that the page's Content Security Policy refuses.
func (b *tab) until(script string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		// While a page is loading, the script may fail.
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+script+")")); err == nil && ok {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.fail(fmt.Errorf("waiting for %s", script))
		}
	}
}

// shoot makes a picture of the whole page.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	png := get(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
