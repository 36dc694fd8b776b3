package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestBrowserPause pauses a repository with a hostile reason, and resumes it, on a desktop and on a phone.
func TestBrowserPause(t *testing.T) {
	for _, width := range []int64{1400, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := newStation(t, true)
			id := s.enqueue(1, "Crash")
			b := newTab(t)
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
			s.signIn(b, "/")
			b.until(`document.getElementById("live").textContent === "live" && !document.querySelector(".paused")`)
			b.run(chromedp.Click(chromedp.CSS("#pausing summary")))
			b.until(`document.querySelector("#p-name").checkVisibility()`)
			b.fits(width)
			b.do(`document.getElementById("p-kind").value = "repository"`)
			b.run(chromedp.SendKeys(chromedp.CSS("#p-name"), "OCTO/forge"),
				chromedp.SendKeys(chromedp.CSS("#p-reason"), "<img src=x onerror=alert(1)> "+fmt.Sprintf("%0200d", 0)),
				chromedp.Click(chromedp.CSS("#pausing button")))
			b.until(`document.querySelector(".paused") && document.querySelector(".paused").textContent.includes("the repository OCTO/forge, by ada") && document.querySelector(".notice").textContent === "It is paused."`)
			b.until(`document.querySelector(".paused").textContent.includes("<img src=x onerror=alert(1)>") && document.querySelector(".paused").textContent.includes("1 task held")`)
			b.fits(width)
			b.shoot(fmt.Sprintf("pause-%d", width))
			b.run(chromedp.Navigate(s.url("/tasks/" + id)))
			b.until(`document.querySelector(".paused button")`)
			b.fits(width)
			b.run(chromedp.Click(chromedp.CSS(".paused button")))
			b.until(`document.querySelector(".notice") && document.querySelector(".notice").textContent === "It is resumed." && !document.querySelector(".paused")`)
		})
	}
}
