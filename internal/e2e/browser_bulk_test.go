package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/org/foreman-action/queue"
)

// TestBrowserBulk finds tasks with the search box, and changes them with the check boxes and by the filter, on
// a desktop and on a phone.
func TestBrowserBulk(t *testing.T) {
	for _, width := range []int64{1400, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := newStation(t, true)
			for n := 1; n <= 6; n++ {
				id := s.enqueue(n, fmt.Sprintf("Crash number %d of <b>six</b>", n))
				if err := s.q.Cancel(t.Context(), queue.Seen{ID: id}, "somebody"); err != nil {
					t.Fatal(err)
				}
			}
			b := newTab(t)
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
			s.signIn(b, "/")
			b.until(`document.getElementById("live").textContent === "live"`)
			find := func(text string, rows int) {
				t.Helper()
				b.do(`document.getElementById("f-q").value = ""`)
				b.run(chromedp.SendKeys(chromedp.CSS("#f-q"), text), chromedp.Click(chromedp.CSS("form[role=search] button")))
				b.until(fmt.Sprintf(`new URLSearchParams(location.search).get("q") === %q && document.readyState === "complete" && document.querySelectorAll("tr[id^=t-]").length === %d`, text, rows))
				b.fits(width)
			}
			find("CRASH 5", 1)
			find("octo/forge#3", 1)
			b.run(chromedp.Navigate(s.url("/?repo=octo%2Fforge")))
			find("d0c0ffee-cc78-11e3-81ab-000000000004", 1)
			b.run(chromedp.Navigate(s.url("/?q=crash&state=failed&since=1h")))
			b.until(`document.querySelectorAll("tr[id^=t-]").length === 6 && document.getElementById("live").textContent === "live"`)

			// The page updates itself, and the checks stay.
			b.run(chromedp.Click(chromedp.CSS(`#t-` + browserTask(2) + ` input[type="checkbox"]`)))
			s.enqueue(7, "Crash number 7")
			if err := s.q.Cancel(t.Context(), queue.Seen{ID: browserTask(7)}, "somebody"); err != nil {
				t.Fatal(err)
			}
			b.until(`document.getElementById("t-` + browserTask(7) + `")`)
			if got := eval[int](b, `document.querySelectorAll('input[name="task"]:checked').length`); got != 1 {
				t.Errorf("%d tasks are checked, want 1", got)
			}
			b.shoot(fmt.Sprintf("bulk-list-%d", width))
			b.run(chromedp.Click(chromedp.CSS(".bulk button")))
			b.until(`document.querySelector("h1").textContent === "Retry 1 task?"`)
			b.fits(width)
			b.shoot(fmt.Sprintf("bulk-confirm-%d", width))
			if got := s.state(browserTask(2)); got != queue.Failed {
				t.Errorf("before the confirmation the task is %s", got)
			}
			b.run(chromedp.Click(chromedp.CSS("main button.first")))
			b.until(`document.querySelector("h1").textContent === "1 task changed"`)
			b.run(chromedp.Click(chromedp.CSS(".back a")))
			b.until(`document.querySelectorAll("tr[id^=t-]").length === 6 && location.search.includes("title=crash")`)

			if width > 500 { // on a phone the head of the table is not visible
				b.run(chromedp.Click(chromedp.CSS("#check-all")))
				if got := eval[int](b, `document.querySelectorAll('input[name="task"]:checked').length`); got != 6 {
					t.Errorf("%d tasks are checked, want all", got)
				}
			}
			b.do(`document.getElementById("b-which").value = "filter", document.getElementById("b-verb").value = "ask-again"`)
			b.run(chromedp.Click(chromedp.CSS(".bulk button")))
			b.until(`document.querySelector("h1").textContent === "Ask again about 6 tasks?"`)
			b.run(chromedp.SendKeys(chromedp.CSS("#reason"), "the prompt was fixed"), chromedp.Click(chromedp.CSS("main button.first")))
			b.until(`document.querySelector("h1").textContent === "6 tasks changed"`)
			b.fits(width)
			for n := 1; n <= 7; n++ {
				if got := s.state(browserTask(n)); got != queue.Pending {
					t.Errorf("task %d is %s", n, got)
				}
			}
			b.run(chromedp.Navigate(s.url("/tasks/"+browserTask(4))), chromedp.Click(chromedp.CSS("#d-message summary")))
			b.until(`document.querySelector("#d-message pre").checkVisibility() && document.querySelector("#d-message pre").textContent.includes('"title": "Crash number 4 of ')`)
			b.until(`document.querySelector(".timeline").textContent.includes("the prompt was fixed")`)
			b.fits(width)
			b.shoot(fmt.Sprintf("bulk-task-%d", width))
		})
	}
}

// fits checks that the page is not wider than the screen.
func (b *tab) fits(width int64) {
	b.t.Helper()
	if over := eval[int64](b, `document.documentElement.scrollWidth`) - width; over > 0 {
		b.t.Errorf("the page is %d pixels wider than the screen", over)
	}
}
