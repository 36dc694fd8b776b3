package e2e

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// trackRecord returns the track record of rules and agents, some of which have long or hostile names.
func trackRecord(clock *queuetest.Clock) func(context.Context, string) (trackrecord.Report, error) {
	o, n := &memory.Outcomes{Judged: clock.Now().AddDate(0, 0, -14)}, 0
	for _, p := range [][4]string{
		{"rule:00000000000000aa", "crash", "bug", "kkkkkkkkkkkkkaakakkkk-e"},
		{"rule:00000000000000bb", "stale", "wontfix", "kkkkkkkkkkkkkkkkkkkkkkkkkkuukukuk"},
		{"rule:00000000000000cc", "a-rule-with-an-identifier-that-is-long-and-has-no-place-where-it-could-break", "area/" + strings.Repeat("x", 200), "kr"},
		{"agent:triage@1.2", "", "needs info", "kkrruuu"},
		{"agent:<b>\u202eevil</b>", "", "\"><img src=x onerror=alert(1)>", "k"},
		{"agent:תנור@1", "", "צריך מידע 🔥", "kku"},
	} {
		for _, c := range p[3] {
			n++
			at := clock.Now().AddDate(0, 0, -10).Add(time.Duration(n) * time.Minute)
			o.Count(memory.PairKey{Source: p[0], Action: "add_label", Value: p[2]}, p[1], memory.Result{
				Outcome: map[rune]memory.Outcome{'k': memory.OutcomeKept, 'u': memory.OutcomeUndone, 'a': memory.OutcomeAccepted, 'r': memory.OutcomeRejected, 'e': memory.OutcomeExpired, '-': memory.OutcomeUnjudged}[c],
				Issue:   n, Author: fmt.Sprint(n), Acted: at, At: at,
			}, memory.Threshold{Bound: 0.85, Of: 20})
		}
	}
	return func(_ context.Context, repo string) (trackrecord.Report, error) {
		opt := trackrecord.Options{
			Repo: repo, Memory: "server", Web: "https://github.com", Now: clock.Now(), Waiting: &trackrecord.Waiting{Due: 3, Later: 40, Proposals: 2},
			Policy: policy.Policy{Earned: true, Earn: policy.Earn{Distrust: []string{"agent:triage"}}},
		}
		if repo != "octo/forge" {
			return trackrecord.New(nil, opt), nil
		}
		return trackrecord.New(o, opt), nil
	}
}

// TestBrowserTrackRecord opens the page of the track record in light and dark, on desktop and phone screens.
func TestBrowserTrackRecord(t *testing.T) {
	clock := queuetest.NewClock()
	page, err := dashboard.New(dashboard.Options{
		Queue: queue.New(queue.Options{Now: clock.Now}), TrackRecord: trackRecord(clock), Repos: []string{"octo/forge", "octo/" + strings.Repeat("n", 90)}, Now: clock.Now, Every: time.Hour,
	})
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
			for name, path := range map[string]string{"record": "/track-record", "record-empty": "/track-record?repo=octo%2F" + strings.Repeat("n", 90)} {
				what := fmt.Sprintf("%s, %s, %s", name, scheme, screen.name)
				b.run(chromedp.Navigate(server.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
				want := 6
				if name == "record-empty" {
					want = 0
				}
				if n := eval[int](b, `document.querySelectorAll(".records tbody tr").length`); n != want {
					t.Errorf("%s: got %d rows, want %d", what, n, want)
				}
				if bad := eval[[]string](b, contrast); len(bad) > 0 {
					t.Errorf("%s: texts that do not stand out:\n%s", what, strings.Join(bad, "\n"))
				}
				if over := eval[int64](b, `document.documentElement.scrollWidth`) - screen.width; over > 0 {
					t.Errorf("%s: it is %d pixels wider than the screen", what, over)
				}
				if bad := eval[int](b, `document.querySelectorAll("main img, main b, main script").length`); bad > 0 {
					t.Errorf("%s: %d names became elements", what, bad)
				}
				b.named(what)
				b.shoot(name + "-" + scheme + "-" + screen.name)
			}
		}
	}
	b.run(chromedp.Navigate(server.URL+"/"), chromedp.Click(chromedp.CSS(`a[href="/track-record"]`)), chromedp.WaitVisible(chromedp.CSS(".records")))
	if got := eval[string](b, `document.querySelector(".records a").href`); !strings.HasPrefix(got, "https://github.com/octo/forge/issues/") {
		t.Errorf("the first link leads to %s", got)
	}
}
