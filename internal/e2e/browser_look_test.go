package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/org/foreman-action/queue"
)

// furnish fills the queue with tasks in every state.
func (s *station) furnish() (done string) {
	s.t.Helper()
	const text = "The log shows a nil pointer in forge.Light, and the issue has steps to reproduce it.\nSo it is a bug, in the area of the bellows."
	done = s.enqueue(1, "The forge does not light after an update to 2.4, and the bellows make a sound that they did not make before")
	s.claim()
	s.complete(done, text)
	s.finish(s.lease(), text)
	id := s.enqueue(2, "תנור לא נדלק 🔥 and https://example.com/an/address/that/is/long/and/has/no/place/where/it/could/break/so/it/overflows")
	s.claim()
	s.complete(id, text)
	if err := s.q.Fail(s.t.Context(), s.lease(), "add the label \"bug\": GitHub says 404; tried 8 times", nil); err != nil {
		s.t.Fatal(err)
	}
	id = s.enqueue(3, "Applying")
	s.claim()
	s.complete(id, text)
	s.lease()
	s.enqueue(4, "With the agent")
	s.claim()
	s.enqueue(5, "Pending")
	for n := range 3 {
		if _, err := s.q.Enqueue(s.t.Context(), queue.Task{
			ID: browserTask(6 + n), Agent: browserAgent, Repo: "octo/flood", Issue: n + 1,
			Message: []byte(`{"payload":{"title":"One of very many"}}`), HourlyLimit: 1,
		}); err != nil {
			s.t.Fatal(err)
		}
	}
	return done
}

// contrast is a script that lists texts whose contrast to the background is too low (WCAG AA).
const contrast = `(() => {
	const lum = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map(Number).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
	const bad = [];
	for (const e of document.body.querySelectorAll("*")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName)) continue;
		const [a, b] = [lum(getComputedStyle(e).color), lum(back(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) bad.push(e.tagName + " " + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
	}
	return bad;
})()`

// TestBrowserLook opens pages in light and dark, on desktop and phone screens. It checks that
// texts have enough contrast, that nothing is wider than the screen, and that all controls have
// names. With -shots it takes pictures.
func TestBrowserLook(t *testing.T) {
	s := newStation(t, false)
	done := s.furnish()
	b := newTab(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, screen := range []struct {
			name          string
			width, height int64
			phone         bool
		}{{"desktop", 1400, 900, false}, {"phone", 390, 844, true}, {"small phone", 360, 780, true}} {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width: screen.width, Height: screen.height, DeviceScaleFactor: 1, Mobile: screen.phone,
			})
			for name, path := range map[string]string{"queue": "/", "task": "/tasks/" + done, "none": "/?repo=no%2Fsuch", "unknown": "/tasks/none"} {
				what := fmt.Sprintf("%s, %s, %s", name, scheme, screen.name)
				if name == "unknown" {
					b.expect("the server responded with a status of 404")
				}
				b.run(chromedp.Navigate(s.url(path)), chromedp.WaitVisible(chromedp.CSS("main")))
				eval[int](b, `[...document.querySelectorAll("details")].map((d) => { d.open = true; return d; }).length`)
				if bad := eval[[]string](b, contrast); len(bad) > 0 {
					t.Errorf("%s: texts that do not stand out:\n%s", what, strings.Join(bad, "\n"))
				}
				if over := eval[int64](b, `document.documentElement.scrollWidth`) - screen.width; over > 0 {
					t.Errorf("%s: it is %d pixels wider than the screen", what, over)
				}
				b.named(what)
				b.shoot(name + "-" + scheme + "-" + screen.name)
			}
		}
	}
}

// named checks the browser's accessibility tree, which screen readers use. All controls have a
// name, and tables still have rows and cells.
func (b *tab) named(what string) {
	b.t.Helper()
	count := map[string]int{}
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		count[role]++
		switch role {
		case "table":
			if strings.HasPrefix(what, "docs") {
				continue // a table written in Markdown has no name
			}
			fallthrough
		case "link", "button", "textbox", "searchbox", "combobox", "region", "navigation", "form", "search":
			if n.Name == nil || strings.Trim(string(n.Name.Value), `" `) == "" {
				b.t.Errorf("%s: a %s has no name", what, role)
			}
		}
	}
	if count["main"] != 1 || count["heading"] == 0 && !strings.HasPrefix(what, "unknown") {
		b.t.Errorf("%s: there is no main part, or no heading: %v", what, count)
	}
	if strings.HasPrefix(what, "queue") && (count["row"] < 9 || count["cell"] < 40 || count["columnheader"] < 6) {
		b.t.Errorf("%s: the table is none any more: %v", what, count)
	}
}

// TestBrowserSmall checks the size of a page, and that it loads no other files.
func TestBrowserSmall(t *testing.T) {
	s := newStation(t, false)
	s.furnish()
	b := newTab(t)
	begin := time.Now()
	b.run(chromedp.Navigate(s.url("/")))
	got := eval[string](b, `(() => { const e = performance.getEntriesByType("resource").filter((r) => !r.name.includes("/events") && !r.name.startsWith("data:")); return e.map((r) => r.name).join(" "); })()`)
	if got != "" {
		t.Errorf("it loads more than itself: %s", got)
	}
	size := eval[int](b, `performance.getEntriesByType("navigation")[0].decodedBodySize`)
	t.Logf("%d bytes, shown after %v", size, time.Since(begin).Round(time.Millisecond))
	if size > 60_000 {
		t.Errorf("the page has %d bytes", size)
	}
}
