package e2e

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// remember makes a day of tasks and of calls to GitHub: more by day than by night, with an outage of the
// agent in the morning.
func remember(t *testing.T, s *sqlite.Store, clock *queuetest.Clock) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	q, ctx, n := s.Queue(), t.Context(), 0
	for slot := range 96 {
		for range 1 + (slot%48)/12 {
			n++
			id := fmt.Sprint("task ", n)
			_, err := q.Enqueue(ctx, queue.Task{ID: id, Agent: browserAgent, Repo: "octo/forge", Issue: n, Message: []byte("{}")})
			check(err)
			clock.Advance(time.Duration(300+n*37%900) * time.Millisecond)
			c, err := q.ClaimNext(ctx, browserAgent, queue.ClaimOptions{Lease: time.Hour})
			check(err)
			clock.Advance(time.Duration(2+n%40) * time.Second)
			if slot > 40 && slot < 46 {
				check(q.FailClaim(ctx, queue.Ref{ID: id, Attempt: c.Attempt}, "the agent failed"))
				continue
			}
			_, err = q.Complete(ctx, queue.Ref{ID: id, Attempt: c.Attempt}, []byte("{}"))
			check(err)
			clock.Advance(time.Duration(40+n%7*200) * time.Millisecond)
			list, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "host-1", Lease: time.Hour, Limit: 9})
			check(err)
			for _, d := range list {
				status := []string{"applied", "skipped", "applied"}[n%3]
				check(q.MarkDone(ctx, d.Lease, []byte(`{"version":1,"status":"`+status+`"}`)))
			}
		}
		check(s.History().RecordBudget(ctx, []history.Budget{
			{Account: "foreman[bot]", Calls: 30 + slot*7%90, Remaining: 5000 - slot%4*1100, Limit: 5000}, {Account: "foreman[bot], graphql", Calls: 5, Remaining: 4990, Limit: 5000},
		}))
		clock.Advance(12 * time.Minute)
	}
	for more := true; more; {
		got, err := s.History().Record(ctx)
		check(err)
		more = got.More
	}
}

// outside is a script that lists the texts of charts that are cut off, or too small to read.
const outside = `[...document.querySelectorAll("svg.chart")].flatMap((svg) => {
	const box = svg.getBoundingClientRect();
	return [...svg.querySelectorAll("text")].filter((e) => {
		const r = e.getBoundingClientRect();
		return r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1 || r.height < 10;
	}).map((e) => svg.getAttribute("aria-label") + ": " + e.textContent + " " + JSON.stringify(e.getBoundingClientRect()));
})`

// alike is a script that lists the charts in which two lines or bars differ by their colours alone.
const alike = `[...document.querySelectorAll("figure")].flatMap((f) => {
	const looks = [...f.querySelectorAll(".legend path")].map((e) => { const s = getComputedStyle(e); return s.strokeDasharray + s.fillOpacity; });
	return new Set(looks).size < looks.length ? [f.textContent.trim().slice(0, 40) + looks.join(" | ")] : [];
})`

// TestBrowserHistory opens the page of the history in light and dark, on desktop and phone screens.
func TestBrowserHistory(t *testing.T) {
	clock := queuetest.NewClock()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	remember(t, s, clock)
	page, err := dashboard.New(dashboard.Options{Queue: s.Queue(), History: s.History(), Now: clock.Now, Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(page)
	t.Cleanup(server.CloseClientConnections) // open pages have streams
	b := newTab(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, screen := range []struct {
			name          string
			width, height int64
			phone         bool
		}{{"desktop", 1400, 900, false}, {"phone", 390, 844, true}} {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width: screen.width, Height: screen.height, DeviceScaleFactor: 1, Mobile: screen.phone,
			})
			for name, path := range map[string]string{
				"history": "/history", "history-30d": "/history?range=30d&repo=octo%2Fforge", "history-empty": "/history?range=1h&repo=octo%2F" + strings.Repeat("n", 90),
			} {
				what := fmt.Sprintf("%s, %s, %s", name, scheme, screen.name)
				b.run(chromedp.Navigate(server.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
				if open := eval[bool](b, `(() => { const d = document.querySelector("#numbers"); if (d) d.open = true; return !!d; })()`); open == (name == "history-empty") {
					t.Errorf("%s: there is a table of the numbers: %v", what, open)
				}
				if n := eval[int](b, `document.querySelectorAll("svg.chart").length`); name == "history-empty" && n != 0 {
					t.Errorf("%s: it has %d charts", what, n)
				}
				for problem, script := range map[string]string{"texts that do not stand out": contrast, "texts that are cut off or small": outside, "series that differ by colour alone": alike} {
					if bad := eval[[]string](b, script); len(bad) > 0 {
						t.Errorf("%s: %s:\n%s", what, problem, strings.Join(bad, "\n"))
					}
				}
				if over := eval[int64](b, `document.documentElement.scrollWidth`) - screen.width; over > 0 {
					t.Errorf("%s: it is %d pixels wider than the screen", what, over)
				}
				b.named(what)
				b.do(`document.querySelector("#numbers") && (document.querySelector("#numbers").open = false)`)
				b.shoot(name + "-" + scheme + "-" + screen.name)
			}
		}
	}
	b.run(chromedp.Navigate(server.URL+"/"), chromedp.Click(chromedp.CSS(`a[href="/history"]`)), chromedp.WaitVisible(chromedp.CSS("svg.chart")))
	if n := eval[int](b, `document.querySelectorAll("svg.chart").length`); n != 7 {
		t.Errorf("got %d charts, want 7", n)
	}
}
