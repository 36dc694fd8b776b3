package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/org/foreman-action/queue"
)

// TestBrowserStates moves a task through its states. Two browsers show them, one the list and one
// the task's page, without a reload.
func TestBrowserStates(t *testing.T) {
	s := newStation(t, false)
	list, own := newTab(t), newTab(t)
	s.enqueue(1, "An older one")
	list.run(chromedp.Navigate(s.url("/")))
	list.until(`document.getElementById("live").textContent === "live"`)
	list.do(`window.mark = 1, document.getElementById("f-repo").value = "octo/fo", document.getElementById("f-repo").focus()`)

	id := s.enqueue(2, "The forge does not light")
	row := `document.getElementById("t-` + id + `")`
	list.until(row + ` && ` + row + `.textContent.includes("The forge does not light")`)
	list.until(row + `.querySelector(".state.pending")`)
	own.run(chromedp.Navigate(s.url("/tasks/" + id)))
	own.do(`window.mark = 1`)
	own.until(`document.getElementById("live").textContent === "live"`)

	both := func(state string) {
		t.Helper()
		list.until(row + `.querySelector(".state.` + state + `")`)
		own.until(`document.querySelector(".now .state.` + state + `")`)
	}
	s.claim() // claims the older task
	s.claim()
	both("claimed")
	s.complete(id, "It is a bug.")
	both("completed")
	own.until(`document.querySelector("blockquote").textContent === "It is a bug."`)
	hold := s.lease()
	list.until(row + `.textContent.includes("applying")`)
	s.finish(hold, "It is a bug.")
	both("done")
	own.until(`[...document.querySelectorAll(".timeline b")].map((b) => b.textContent).join() === "received,claimed,decided,add_label,comment,done"`)
	own.until(`document.querySelectorAll(".actions tbody tr").length === 3`)
	own.until(`document.title.includes("done")`)
	list.until(`document.querySelector(".tiles").textContent.includes("1 done")`)

	for _, b := range []*tab{list, own} {
		if eval[int](b, `window.mark || 0`) != 1 {
			t.Error("the page was reloaded")
		}
	}
	if got := eval[string](list, `document.activeElement.id + " " + document.getElementById("f-repo").value`); got != "f-repo octo/fo" {
		t.Errorf("what was typed, and where: %q", got)
	}
}

// TestBrowserHostile shows titles and rationales that try to run a script.
func TestBrowserHostile(t *testing.T) {
	s := newStation(t, true)
	b := newTab(t)
	data, err := os.ReadFile("../server/dashboard/testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	var last string
	for n, text := range texts {
		text = strings.ReplaceAll(text, "alert(1)", "window.evil=1")
		last = s.enqueue(n+1, text)
		s.complete(last, text)
		s.finish(s.lease(), text)
	}
	s.signIn(b, "/")
	for n := range texts {
		b.run(chromedp.Navigate(s.url("/tasks/" + browserTask(n+1))))
		if n%8 == 0 { // for some texts, the page's script renders the page again
			b.until(`document.getElementById("live").textContent === "live"`)
			s.enqueue(1000+n, texts[n])
		}
		if got := eval[bool](b, `window.evil !== undefined || document.querySelector("main script, main img, main svg, main iframe, main style") !== null`); got {
			t.Errorf("%q did something", texts[n])
		}
	}
	b.run(chromedp.Navigate(s.url("/")))
	b.until(`document.getElementById("live").textContent === "live"`)
	s.enqueue(2000, `<img src=x onerror="window.evil=1"><script>window.evil=1</script>`)
	b.until(`document.getElementById("t-` + browserTask(2000) + `")`)
	if eval[bool](b, `window.evil !== undefined || document.querySelector("main script, main img, main svg") !== null`) {
		t.Error("a script ran")
	}
	// The Content Security Policy stops even scripts that are added to the page.
	b.expect("Content Security Policy")
	b.expect("Content-Security-Policy")
	b.expect("requires 'Trusted")
	got := eval[string](b, `
		const s = document.createElement("script");
		try { s.textContent = "window.evil = 1"; document.body.append(s); } catch (e) { }
		try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.evil=1'>"); } catch (e) { window.refused = e.name; }
		String(window.evil) + " " + window.refused`)
	if got != "undefined TypeError" {
		t.Errorf("got %q", got)
	}
}

// signIn fills in the sign-in form, by keyboard alone.
func (s *station) signIn(b *tab, from string) {
	s.t.Helper()
	b.expect("the server responded with a status of 401") // 401 makes the form appear
	b.run(
		chromedp.Navigate(s.url(from)),
		chromedp.Focus(chromedp.CSS("#name")),
		chromedp.KeyEvent("ada"+kb.Tab+"correct horse"+kb.Enter),
		chromedp.WaitVisible(chromedp.CSS("header form button")),
	)
}

// TestBrowserOperator clicks the buttons on a task's page.
func TestBrowserOperator(t *testing.T) {
	s := newStation(t, true)
	id := s.enqueue(1, "The forge does not light")
	b := newTab(t)
	s.signIn(b, "/tasks/"+id)
	b.run(chromedp.Click(chromedp.CSS("button.danger")), chromedp.WaitVisible(chromedp.CSS(".state.failed")), chromedp.WaitVisible(chromedp.CSS(".notice")))
	if got := s.state(id); got != queue.Failed {
		t.Errorf("after cancelling: %s", got)
	}
	b.shoot("task-failed")
	b.run(chromedp.Click(chromedp.CSS("button.first")), chromedp.WaitVisible(chromedp.CSS(".state.pending")))
	if got := s.state(id); got != queue.Pending {
		t.Errorf("after retrying: %s", got)
	}
	b.until(`document.querySelector(".timeline").textContent.includes("ada")`)

	// A form on another site sends the same request, and the server refuses it.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<link rel="icon" href="data:,"><form method="post" action="` + s.url("/tasks/"+id+"/cancel") + `"><button>x</button></form>`))
	}))
	defer evil.Close()
	b.expect("the server responded with a status of 403")
	b.run(chromedp.Navigate(evil.URL), chromedp.Click(chromedp.CSS("button")), chromedp.WaitVisible(chromedp.CSS(".problem")))
	if got := s.state(id); got != queue.Pending {
		t.Errorf("after the other site's form: %s", got)
	}

	b.run(chromedp.Navigate(s.url("/")), chromedp.Click(chromedp.CSS("header form button")), chromedp.WaitVisible(chromedp.CSS("#secret")))
	b.shoot("sign-in")
}

// TestBrowserList clicks buttons in the list; the browser stays on the list. Then it asks the
// agent again, with a reason, on the task's page.
func TestBrowserList(t *testing.T) {
	s := newStation(t, true)
	done := s.furnish()
	failed := browserTask(2)
	b := newTab(t)
	s.signIn(b, "/")
	row := func(id string) string { return `#t-` + id }
	button := func(id, verb string) string { return row(id) + ` form[action$="/` + verb + `"] button` }
	b.run(chromedp.Click(chromedp.CSS(button(failed, "ask-again"))), chromedp.WaitVisible(chromedp.CSS(".notice")))
	b.until(`location.pathname === "/" && document.querySelector("` + row(failed) + ` .state.pending")`)
	if d, err := s.q.Inspect(t.Context(), failed); err != nil || d.State != queue.Pending || d.Asks != 1 || d.Result != nil {
		t.Errorf("after asking again: %+v, %v", d.Info, err)
	}
	b.run(chromedp.Click(chromedp.CSS(button(failed, "cancel"))), chromedp.WaitVisible(chromedp.CSS(row(failed)+" .state.failed")))
	if got := s.state(failed); got != queue.Failed {
		t.Errorf("after cancelling: %s", got)
	}
	b.run(
		chromedp.Navigate(s.url("/tasks/"+done)), chromedp.SendKeys(chromedp.CSS("#reason"), "the prompt was fixed"),
		chromedp.Click(chromedp.CSS(`form[action$="/ask-again"] button`)), chromedp.WaitVisible(chromedp.CSS(".now .state.pending")),
	)
	b.until(`document.querySelector(".timeline").textContent.includes("asked again") && document.querySelector(".timeline").textContent.includes("the prompt was fixed")`)
	b.shoot("task-asked-again")
	// If all parts work, the health section is one line. Otherwise it lists the problems.
	b.run(chromedp.Navigate(s.url("/")))
	if got := eval[string](b, `document.querySelector(".health .bad b").textContent + ": " + document.querySelector("#parts summary").textContent`); got != "poll octo/forge: 1 part is unhealthy; 2 others are healthy" {
		t.Errorf("health: got %q", got)
	}
	b.expect("ERR_")
	s.stop()
	s.well = true
	s.start()
	s.signIn(b, "/")
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1, Mobile: true})
	if high := eval[int](b, `document.querySelector("section[aria-labelledby=health]").offsetHeight`); high > 80 {
		t.Errorf("health is %d pixels high", high)
	}
	top := eval[int](b, `Math.round(document.querySelector("h2#tasks").getBoundingClientRect().top + scrollY)`)
	t.Logf("on a phone, the list begins at %d pixels", top)
	b.shoot("queue-operator-phone")
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1400, Height: 900, DeviceScaleFactor: 1})
	b.shoot("queue-operator-desktop")
}

// TestBrowserReadOnly uses a server without operators. The page has no buttons and explains how to
// retry by command.
func TestBrowserReadOnly(t *testing.T) {
	s := newStation(t, false)
	id := s.enqueue(1, "x")
	b := newTab(t)
	b.run(chromedp.Navigate(s.url("/tasks/" + id)))
	if n := eval[int](b, `document.querySelectorAll("button").length`); n != 0 {
		t.Errorf("there are %d buttons", n)
	}
	if !eval[bool](b, `document.querySelector("footer").textContent.includes("foremand queue retry")`) {
		t.Error("it does not say how to retry")
	}
	b.expect("the server responded with a status of 403")
	if got := eval[int](b, `(() => { const x = new XMLHttpRequest(); x.open("POST", location.pathname + "/cancel", false); x.send(); return x.status; })()`); got != 403 {
		t.Errorf("without a form: %d", got)
	}
	if got := s.state(id); got != queue.Pending {
		t.Errorf("the task is %s", got)
	}
}

// TestBrowserSignedOut ends the session with the request that another tab of the browser would
// send. At the next change, the open page stops showing data and shows the sign-in form.
func TestBrowserSignedOut(t *testing.T) {
	s := newStation(t, true)
	s.enqueue(1, "The forge does not light")
	b := newTab(t)
	s.signIn(b, "/")
	b.until(`document.getElementById("live").textContent === "live"`)
	if got := eval[int](b, `(() => { const x = new XMLHttpRequest(); x.open("POST", "/logout", false); x.send(); return x.status; })()`); got != http.StatusOK && got != http.StatusUnauthorized {
		t.Errorf("sign out: status %d", got)
	}
	id := s.enqueue(2, "A task after the sign-out")
	b.run(chromedp.WaitVisible(chromedp.CSS("#secret")))
	if eval[bool](b, `document.body.textContent.includes("forge") || document.getElementById("t-`+id+`") !== null`) {
		t.Error("the page still shows tasks")
	}
}

// TestBrowserInterrupted hides the page, and later stops the server. The page then shows what has
// changed meanwhile.
func TestBrowserInterrupted(t *testing.T) {
	s := newStation(t, false)
	b := newTab(t)
	live := `document.getElementById("live").textContent === "live"`
	b.run(chromedp.Navigate(s.url("/")))
	b.until(live)
	hide := func(hidden string) {
		b.do(`Object.defineProperty(document, "hidden", {value: ` + hidden + `, configurable: true}), document.dispatchEvent(new Event("visibilitychange"))`)
	}
	hide("true")
	b.until(`document.getElementById("live").textContent === "paused"`)
	id := s.enqueue(1, "While nobody looked")
	hide("false")
	b.until(`document.getElementById("t-` + id + `")`)
	b.until(live)

	b.expect("ERR_") // the server is stopped
	s.stop()
	b.until(`document.getElementById("live").textContent === "reconnecting"`)
	id = s.enqueue(2, "While the server was away")
	s.start()
	b.until(`document.getElementById("t-` + id + `")`)
	b.until(live)
}

// TestBrowserWithoutScript uses the page without JavaScript.
func TestBrowserWithoutScript(t *testing.T) {
	s := newStation(t, true)
	s.enqueue(1, "The first")
	second := s.enqueue(2, "The second")
	b := newTab(t)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	s.signIn(b, "/")
	b.run(
		chromedp.SendKeys(chromedp.CSS("#f-repo"), "octo/forge"), chromedp.SendKeys(chromedp.CSS("#f-issue"), "2"), chromedp.Click(chromedp.CSS("form[role=search] button")), chromedp.WaitVisible(chromedp.CSS(`form[role=search] a`)),
		chromedp.Click(chromedp.CSS(`#t-`+second+` td:last-child a`)), chromedp.WaitVisible(chromedp.CSS(".timeline")),
		chromedp.Click(chromedp.CSS("button.danger")), chromedp.WaitVisible(chromedp.CSS(".state.failed")),
	)
	if got := s.state(second); got != queue.Failed {
		t.Errorf("the task is %s", got)
	}
}
