package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// maxEngine is how many bytes of the engine a visitor may have to load.
const maxEngine = 6_000_000

// TestPlaygroundSize checks the sizes of the site's files. Only the engine may be large.
func TestPlaygroundSize(t *testing.T) {
	total, engine := 0, 0
	for _, path := range glob(t, filepath.Join(playgroundSite(t), "*")) {
		size := len(read(t, path))
		if filepath.Base(path) == "engine.bin" {
			engine = size
		}
		total += size
	}
	t.Logf("the engine has %d bytes compressed, the whole site %d", engine, total)
	if engine == 0 || engine > maxEngine {
		t.Errorf("the engine has %d bytes, want at most %d", engine, maxEngine)
	}
	if other := total - engine; other > 200_000 {
		t.Errorf("the other files have %d bytes", other)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatal(pattern, list, err)
	}
	return list
}

// newPlayground serves the site, and opens the playground in a tab of this width with the light
// colour scheme.
func newPlayground(t *testing.T, width int64) (*tab, string) {
	t.Helper()
	return servePlayground(t, width, http.FileServer(http.Dir(siteDir(t))))
}

// servePlayground opens the playground of a site.
func servePlayground(t *testing.T, width int64, h http.Handler) (*tab, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	b := newTab(t)
	b.screen(width, "light")
	address := server.URL + "/playground/"
	b.run(chromedp.Navigate(address))
	b.answered(1)
	return b, address
}

// screen sets the width of the tab and its colours.
func (b *tab) screen(width int64, scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600,
	})
}

// answered waits for the n-th answer of the engine since the page was loaded. On a busy machine,
// the watchdog may stop the engine. In that case the function asks again, as the page recommends.
func (b *tab) answered(n int) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => {
		if (Number(document.documentElement.dataset.answered) >= %d) return true;
		const summary = document.getElementById("summary");
		if (summary.textContent.startsWith("Stopped after")) {
			summary.textContent = "Asked again.";
			document.getElementById("title").dispatchEvent(new Event("input", { bubbles: true }));
		}
		return false;
	})()`, n))
}

// text returns the text of an element.
func (b *tab) text(id string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.getElementById(%q).innerText`, id))
}

// ask runs a script that changes fields, and waits for the answer.
func (b *tab) ask(script string) {
	b.t.Helper()
	n := eval[int](b, `Number(document.documentElement.dataset.answered || 0)`)
	b.do(script)
	b.answered(n + 1)
}

// fill sets fields as if a user typed, and waits for the answer.
func (b *tab) fill(fields map[string]string) {
	b.t.Helper()
	b.ask(typing(b.t, fields))
}

// typing returns a script that sets fields as if a user typed.
func typing(t *testing.T, fields map[string]string) string {
	t.Helper()
	values, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`(() => { for (const [id, value] of Object.entries(%s)) { const f = document.getElementById(id); f.value = value; f.dispatchEvent(new Event("input", { bubbles: true })); } })()`, values)
}

// pick chooses an example by its index, and waits for the answer.
func (b *tab) pick(n int) {
	b.t.Helper()
	b.ask(fmt.Sprintf(`(() => { const f = document.getElementById("example"); f.value = %q; f.dispatchEvent(new Event("change", { bubbles: true })); })()`, fmt.Sprint(n)))
}

// TestPlaygroundSteps goes through the page as a visitor: the first example, one's own rules, a
// mistake and its place, the tests, a link.
func TestPlaygroundSteps(t *testing.T) {
	b, address := newPlayground(t, 1400)
	for i, example := range playgroundExamples(t) {
		b.pick(i)
		if got := eval[string](b, `document.getElementById("rules").value`); got != example.Rules {
			t.Errorf("%s: the rules are %q", example.Title, got)
		}
		b.shoot(fmt.Sprintf("playground-example-%d", i))
		if got := b.text("plan"); strings.HasSuffix(example.Title, "proposed to a person") {
			for _, want := range []string{"suggest close_issue reason: not_planned", "would be proposed to a person; confidence high; by rule empty", "why: The issue has no description."} {
				if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
					t.Errorf("the plan of %s lacks %q: %q", example.Title, want, got)
				}
			}
		}
	}
	b.pick(0)
	if got := b.text("summary"); !strings.Contains(got, "2 of 4 rules fire · 3 actions · 3 tests passed") {
		t.Errorf("summary of the first example: %q", got)
	}
	if got := b.text("plan"); !strings.Contains(got, "do add_label") || !strings.Contains(got, "kind/crash") {
		t.Errorf("plan of the first example: %q", got)
	}

	const rules = "version: 1\nrules:\n  - id: own\n    on: [issues.opened]\n    when: issue.title contains \"lamp\" and issue.author == \"mona\"\n    then: [{add_label: light}]\n" +
		"tests:\n  - {name: dark, issue: {title: dark}, expect: {fired: [own]}}\n"
	b.do(`document.getElementById("by-issue").click()`)
	b.fill(map[string]string{"rules": rules, "title": "The lamp", "body": "", "labels": "", "author": "mona", "event": "issues.opened"})
	if got := b.text("summary"); got != "1 of 1 rule fires · 1 action · 1 of 1 test failed" {
		t.Errorf("summary: %q", got)
	}
	if got := b.text("why"); !strings.Contains(got, "own fires") || !strings.Contains(got, `true issue.title contains "lamp"`) || !strings.Contains(got, `true issue.author == "mona"`) {
		t.Errorf("the rules part by part: %q", got)
	}
	if got := b.text("tests"); !strings.Contains(got, "failed dark") || !strings.Contains(got, "want [own]") {
		t.Errorf("tests: %q", got)
	}
	b.fill(map[string]string{"author": "hubot"})
	if got := b.text("why"); !strings.Contains(got, "own its condition is false") {
		t.Errorf("the rules part by part: %q", got)
	}

	// A look-up is unknown until its field has a value.
	b.fill(map[string]string{"rules": strings.Replace(rules, "issue.author == \"mona\"", "author.issues == 0", 1)})
	if got := b.text("summary"); !strings.HasPrefix(got, "0 of 1 rule fire · 1 unknown · 0 actions") {
		t.Errorf("summary without a look-up: %q", got)
	}
	if got := b.text("plan"); !strings.Contains(got, "unknown own") || !strings.Contains(got, "to decide it, give “Author's earlier issues”") {
		t.Errorf("plan without a look-up: %q", got)
	}
	b.fill(map[string]string{"author-issues": "0"})
	if got := b.text("summary"); !strings.HasPrefix(got, "1 of 1 rule fires · 1 action") {
		t.Errorf("summary with the look-up: %q", got)
	}

	// A comment and a pull request have fields of their own, and everything else is YAML.
	const others = "version: 1\nrules:\n  - {id: close, on: issue_comment.created, when: 'command(\"close\") and actor.permission == \"write\"', then: [{add_label: c}]}\n" +
		"  - {id: files, on: pull_request.opened, when: 'any_file(\"src/**\") and pr.additions == 3', then: [{add_label: p}]}\n"
	b.ask(`document.getElementById("by-comment").click()`)
	b.fill(map[string]string{"rules": others, "comment": "/foreman close", "permission": "write"})
	if got := b.text("why"); !strings.Contains(got, "close fires") {
		t.Errorf("a comment: %q", got)
	}
	b.ask(`document.getElementById("by-pull").click()`)
	b.fill(map[string]string{"files": "src/a.go\nb.md", "case": "pr:\n  additions: 3\n"})
	if got := b.text("why"); !strings.Contains(got, "files fires") {
		t.Errorf("a pull request: %q", got)
	}
	b.fill(map[string]string{"case": "pr:\n  aditions: 3\n"})
	if got := b.text("summary"); !strings.Contains(got, "case:2:3: unknown key \"aditions\"; did you mean additions?") {
		t.Errorf("a mistake in the YAML: %q", got)
	}
	b.ask(`document.getElementById("by-issue").click()`)
	b.fill(map[string]string{"rules": rules, "case": "", "author-issues": "", "permission": ""})

	// The mistake comes after characters of two UTF-16 units. Its position counts each of them as one
	// character.
	b.fill(map[string]string{"rules": strings.Replace(rules, `"lamp" and issue.author`, `"💡💡" and issue.autor`, 1)})
	if got := b.text("mistakes"); !strings.Contains(got, "line 5, column 47") || !strings.Contains(got, "did you mean author?") {
		t.Errorf("mistakes: %q", got)
	}
	b.do(`document.querySelector("#mistakes .place").click()`)
	if got := eval[string](b, `(() => { const f = document.activeElement; return f.id + " " + f.value.slice(f.selectionStart, f.selectionStart + 5); })()`); got != "rules autor" {
		t.Errorf("the place of the mistake: %q", got)
	}
	if eval[bool](b, `!document.getElementById("plan-part").hidden`) {
		t.Error("there is a plan beside mistakes")
	}

	b.fill(map[string]string{"rules": rules, "labels": "a, ünï"})
	b.do(`document.getElementById("link").click()`)
	b.until(`location.hash.length > 20 && document.getElementById("address").value === location.href`)
	link := eval[string](b, `location.href`)
	second := newTab(t)
	// Links from older versions lead to the root of the site, because the playground was there.
	for _, to := range []string{link, strings.Replace(link, "/playground/#", "/#", 1)} {
		second.run(chromedp.Navigate("about:blank"))
		second.run(chromedp.Navigate(to))
		second.until(fmt.Sprintf(`location.href === %q`, link))
		second.answered(1)
		for id, want := range map[string]string{"rules": rules, "title": "The lamp", "labels": "a, ünï", "author": "hubot", "example": ""} {
			if got := eval[string](second, fmt.Sprintf(`document.getElementById(%q).value`, id)); got != want {
				t.Errorf("the link %s gives %s %q, want %q", to, id, got, want)
			}
		}
	}
	if !strings.HasPrefix(link, address+"#") {
		t.Errorf("the link is %s", link)
	}
	if got := eval[[]string](b, `performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin))`); len(got) > 0 {
		t.Errorf("the page loads from elsewhere: %v", got)
	}
}

// TestPlaygroundEditor: the rule file has line numbers and colours, and a mistake is marked where it is.
func TestPlaygroundEditor(t *testing.T) {
	b, address := newPlayground(t, 1400)
	texts := func(selector string) []string {
		return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent)`, selector))
	}
	lines := []string{"version: 1", "rules: # a list", "  - id: own", "    on: [issues.opened]", `    when: issue.autor == "mo#na" and issue.number > 12`, "    then:", "      - comment: |", "          key: no key", ""}
	b.fill(map[string]string{"rules": strings.Join(lines, "\n")})
	if got := texts(".numbers"); len(got) != 1 || !strings.HasPrefix(got[0], "1\n2\n3\n") {
		t.Errorf("line numbers: %q", got)
	}
	if got := eval[string](b, `document.querySelector(".paint").textContent`); got != strings.Join(lines, "\n")+"\n" {
		t.Errorf("the painted text is %q", got)
	}
	for class, want := range map[string]string{"key": "version rules id on when then comment", "comment": "# a list", "constant": "1 12"} {
		if got := strings.Join(texts(".paint ."+class), " "); got != want {
			t.Errorf("%s: got %q, want %q", class, got, want)
		}
	}
	if got := strings.Join(texts(".paint .mistake"), "") + " " + strings.Join(texts(".numbers .mistake"), " "); got != "autor 5" && got != "issue.autor 5" {
		t.Errorf("the marked mistake: %q", got)
	}
	if got := eval[string](b, `document.getElementById("rules").getAttribute("aria-invalid")`); got != "true" {
		t.Errorf("aria-invalid is %s", got)
	}
	// The painted text is exactly behind the text of the field, also when that scrolls.
	b.fill(map[string]string{"rules": strings.Repeat("# "+strings.Repeat("x", 300)+"\n", 600) + "version: 2\n"})
	b.do(`Object.assign(document.getElementById("rules"), { scrollTop: 9000, scrollLeft: 500 })`)
	b.until(`Number(document.querySelector(".numbers").textContent.split("\n")[0]) > 300`)
	if got := eval[int](b, `document.querySelectorAll(".paint span").length`); got > 300 {
		t.Errorf("%d parts are painted, want those that can be seen", got)
	}
	b.shoot("playground-editor")
	// The link of an example is its name.
	b.pick(1)
	b.do(`document.getElementById("link").click()`)
	b.until(`location.hash.startsWith("#example=")`)
	link := eval[string](b, `location.href`)
	if len(link) > len(address)+80 {
		t.Errorf("the link is %s", link)
	}
	want := eval[string](b, `document.getElementById("rules").value`)
	second := newTab(t)
	second.run(chromedp.Navigate(link))
	second.answered(1)
	if got := eval[string](second, `document.getElementById("rules").value`); got != want {
		t.Errorf("the link shows %q", got)
	}
	second.do(`location.hash = "#example=nope"`)
	second.until(`document.getElementById("link-note").textContent === "The link was not used: there is no example nope."`)
}

// TestPlaygroundKeyboard uses the page by keyboard alone.
func TestPlaygroundKeyboard(t *testing.T) {
	b, _ := newPlayground(t, 1400)
	press := func(keys string) { b.t.Helper(); b.run(chromedp.KeyEvent(keys)) }
	active := func() string {
		return eval[string](b, `document.activeElement.id || document.activeElement.textContent`)
	}
	var order []string
	for range 8 {
		press(kb.Tab)
		order = append(order, active())
	}
	if diff := cmp.Diff([]string{"Documentation", "example", "link", "rules", "by-issue", "title", "body", "labels"}, order); diff != "" {
		t.Errorf("order of the focus (-want +got):\n%s", diff)
	}
	order = nil
	for range 11 {
		press(kb.Tab)
		order = append(order, active())
	}
	if diff := cmp.Diff([]string{"author", "association", "event", "actor", "permission", "author-issues", "author-pulls", "case", "typo its condition is false", "crash fires", "line 16"}, order); diff != "" {
		t.Errorf("order of the focus (-want +got):\n%s", diff)
	}
	press(kb.Enter)
	if got := active(); got != "rules" {
		t.Errorf("a place leads to %q", got)
	}
	press(kb.Tab)
	press(kb.ArrowRight) // switches to another way of describing an event
	b.until(`!document.getElementById("files").closest("[hidden]")`)
	press(kb.ArrowLeft)
	order = nil
	for range 3 {
		press(kb.Tab)
		order = append(order, active())
	}
	if diff := cmp.Diff([]string{"title", "body", "labels"}, order); diff != "" {
		t.Errorf("order of the focus (-want +got):\n%s", diff)
	}
	b.do(`document.getElementById("title").focus()`)
	press("A misspelled word in the README")
	b.until(`document.getElementById("plan").innerText.includes("documentation")`)
	if got := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the focus cannot be seen: %q", got)
	}
}

// TestPlaygroundLook checks the page in light and dark, on desktop and phone screens.
func TestPlaygroundLook(t *testing.T) {
	b, _ := newPlayground(t, 1400)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1400, 390} {
			b.screen(width, scheme)
			for _, n := range []int{0, 3, 6} {
				b.pick(n)
				what := fmt.Sprintf("example %d, %s, %d", n, scheme, width)
				if bad := eval[[]string](b, contrast); len(bad) > 0 {
					t.Errorf("%s: texts that do not stand out:\n%s", what, strings.Join(bad, "\n"))
				}
				if over := eval[int64](b, `document.documentElement.scrollWidth`) - width; over > 0 {
					t.Errorf("%s: it is %d pixels wider than the screen", what, over)
				}
				b.named(what)
				b.shoot(fmt.Sprintf("playground-%d-%s-%d", n, scheme, width))
			}
		}
	}
}

// TestPlaygroundHostile enters texts that try to run a script, and opens malformed links.
func TestPlaygroundHostile(t *testing.T) {
	b, _ := newPlayground(t, 1400)
	var texts []string
	if err := json.Unmarshal(read(t, "../server/dashboard/testdata/hostile.json"), &texts); err != nil {
		t.Fatal(err)
	}
	all := strings.ReplaceAll(strings.Join(texts, "\n"), "alert(1)", "window.evil=1")
	quoted, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	b.do(`document.getElementById("by-issue").click()`)
	rules := fmt.Sprintf("version: 1\nrules:\n  - {id: a, on: issues.opened, when: 'issue.body contains \"<\"', then: [{comment: %s}]}\ntests:\n  - {name: %s, issue: {body: '<'}, expect: {fired: []}}\n", quoted, quoted)
	for _, r := range []string{rules, "version: 1\n" + string(quoted) + ": 1\n", all} {
		b.fill(map[string]string{"rules": r, "title": all, "body": all, "labels": all, "author": "<img src=x onerror=window.evil=1>"})
		if eval[bool](b, `window.evil !== undefined || document.querySelector("main img, main script, main svg, main iframe, main style") !== null`) {
			t.Errorf("%q did something", r)
		}
	}
	// The Content Security Policy stops even scripts that are added to the page.
	b.expect("Content Security Policy")
	b.expect("requires 'Trusted")
	if got := eval[string](b, `
		try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.evil=1'>"); } catch (e) { window.refused = e.name; }
		try { new Worker("data:text/javascript,0"); window.refused += " worker"; } catch (e) { window.refused += " " + e.name; }
		String(window.evil) + " " + window.refused`); got != "undefined TypeError TypeError" {
		t.Errorf("got %q", got)
	}

	encode := `(async (text) => { const c = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")); return btoa(String.fromCharCode(...new Uint8Array(await new Response(c).arrayBuffer()))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""); })`
	open := func(fragment string) string {
		b.do(fmt.Sprintf(`(() => { document.getElementById("link-note").textContent = ""; location.hash = %s; })()`, fragment))
		b.until(`document.getElementById("link-note").textContent`)
		return b.text("link-note")
	}
	for _, link := range []struct{ fragment, want string }{
		{`"<script>window.evil=1</script>"`, "not one of this page"},
		{`"AAAA"`, "cut off or changed"},
		{`"a".repeat(70000)`, "too long"},
		{`window.bomb`, "holds too much"},
		{`window.number`, "This is the state of the link."},
		{`window.types`, "This is the state of the link."},
	} {
		b.do(fmt.Sprintf(`(() => { const e = %s; e("a".repeat(20_000_000)).then((t) => window.bomb = t); e("7").then((t) => window.number = t);
			e(JSON.stringify({rules: {}, payload: 3, case: [], values: {"issue.title": {}, "issue.labels": [{}, "x"], "issue.association": "<i>", "author.issues": "<b>"}, __proto__: 1})).then((t) => window.types = t); })()`, encode))
		b.until(`window.bomb && window.number && window.types`)
		if got := open(link.fragment); !strings.Contains(got, link.want) {
			t.Errorf("the link %s: got %q, want %q", link.fragment, got, link.want)
		}
	}
	if got := eval[string](b, `["rules", "title", "labels", "association"].map((id) => document.getElementById(id).value).join("|")`); got != "||, x|NONE" {
		t.Errorf("fields of a link with other types: %q", got)
	}
	if eval[bool](b, `window.evil !== undefined`) {
		t.Error("a script ran")
	}
}

// endless is a text for which the worker of endlessWorker never answers.
const endless = "an event without end"

// endlessWorker serves a site whose worker runs an endless loop for requests that contain the text
// endless. Slow rules would not do, because their time depends on the machine.
func endlessWorker(t *testing.T, site string) http.Handler {
	t.Helper()
	worker := read(t, filepath.Join(site, "playground", "worker.js"))
	script := fmt.Sprintf("addEventListener(\"message\", (m) => { if (String(m.data.request).includes(%q)) for (;;); });\n%s", endless, worker)
	files := http.FileServer(http.Dir(site))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/playground/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, script)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// TestPlaygroundWatchdog checks that the page stays responsive when rules take too long. The page
// stops the engine with a message, and the engine answers the next text.
func TestPlaygroundWatchdog(t *testing.T) {
	b, _ := servePlayground(t, 1400, endlessWorker(t, siteDir(t)))
	b.do(`document.getElementById("by-issue").click()`)
	b.do(typing(t, map[string]string{"body": endless}))
	b.do(`(() => { window.gap = 0; let last = performance.now(); setInterval(() => { const now = performance.now(); window.gap = Math.max(window.gap, now - last); last = now; }, 10); })()`)
	b.until(`/^Stopped after \d+ s: these rules take too long/.test(document.getElementById("summary").textContent)`)
	t.Logf("the page paused for at most %.0f ms", eval[float64](b, `window.gap`))
	if eval[bool](b, `document.querySelector("#results > section:not([hidden])") !== null`) {
		t.Error("the results of an earlier text are shown")
	}
	sound := "version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: x}]}\n"
	b.fill(map[string]string{"rules": sound, "body": ""})
	if got := b.text("summary"); got != "1 of 1 rule fires · 1 action" {
		t.Errorf("after the restart: %q", got)
	}

	// Nesting that exceeds the worker's stack also ends the engine.
	b.do(typing(t, map[string]string{"rules": strings.Repeat("[", 100_000)}))
	b.until(`document.getElementById("summary").textContent === "The rule engine stopped: these rules, or this event, are nested too deeply. Change the text to try again."`)
	b.fill(map[string]string{"rules": sound})
	if got := b.text("summary"); got != "1 of 1 rule fires · 1 action" {
		t.Errorf("after the second restart: %q", got)
	}
}

// withFile serves a site in which one file has another content; nil means that it is missing.
// count counts the requests for this file.
func withFile(site, name string, content []byte, count *atomic.Int32) http.Handler {
	files := http.FileServer(http.Dir(site))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/"+name:
			files.ServeHTTP(w, r)
		case content == nil:
			count.Add(1)
			http.NotFound(w, r)
		default:
			count.Add(1)
			_, _ = w.Write(content)
		}
	})
}

// TestPlaygroundStartFails checks that the page reports an engine that does not start, after at
// most one further attempt.
func TestPlaygroundStartFails(t *testing.T) {
	var empty bytes.Buffer // an empty WebAssembly module
	z := gzip.NewWriter(&empty)
	if _, err := z.Write([]byte("\x00asm\x01\x00\x00\x00")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file string
		content    []byte
		requests   int32
	}{
		{"a file of the worker is missing", "wasm_exec.js", nil, 2},
		{"the engine is empty", "engine.bin", empty.Bytes(), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var count atomic.Int32
			server := httptest.NewServer(withFile(siteDir(t), "playground/"+tt.file, tt.content, &count))
			t.Cleanup(server.Close)
			b := newTab(t)
			for _, part := range []string{"404", "wasm_exec.js", "an exception", "worker"} {
				b.expect(part)
			}
			b.run(chromedp.Navigate(server.URL + "/playground/"))
			b.until(`/^The rule engine did not start: .*Reload the page/.test(document.getElementById("summary").textContent)`)
			b.do(`document.getElementById("title").dispatchEvent(new Event("input", { bubbles: true }))`)
			if got := count.Load(); got != tt.requests {
				t.Errorf("%d requests for %s, want %d", got, tt.file, tt.requests)
			}
		})
	}
}

// TestPlaygroundLarge checks that the page stays small when many tests of a large condition fail.
func TestPlaygroundLarge(t *testing.T) {
	b, _ := newPlayground(t, 1400)
	var rules strings.Builder
	rules.WriteString("version: 1\nrules:\n  - {id: a, on: issues.opened, when: 'issue.number > 0")
	for i := range 40 {
		fmt.Fprintf(&rules, " and issue.number != %d", -i-1)
	}
	rules.WriteString("', then: [{add_label: x}]}\ntests:\n")
	for i := range 40 {
		fmt.Fprintf(&rules, "  - {name: t%d, issue: {title: b}, expect: {fired: []}}\n", i)
	}
	b.fill(map[string]string{"rules": rules.String()})
	if got := b.text("summary"); !strings.HasSuffix(got, "40 of 40 tests failed") {
		t.Fatalf("summary: %q", got)
	}
	if got := eval[int](b, `document.querySelectorAll("#results .parts li").length`); got == 0 || got > 3000 {
		t.Errorf("%d parts of conditions are drawn, want some, and at most 3000", got)
	}
	if got := eval[int](b, `document.querySelectorAll("#tests .test").length`); got != 40 {
		t.Errorf("%d tests are drawn, want 40", got)
	}
	if got := strings.Count(b.text("results"), "The first 3000 rules and parts"); got != 1 {
		t.Errorf("the page says %d times that it is cut, want once", got)
	}
}

// TestPlaygroundGuards checks that the engine's limits also work in WebAssembly: a hostile
// condition is refused.
func TestPlaygroundGuards(t *testing.T) {
	body := strings.Repeat("a", 1<<20-1)
	tests := []struct{ condition, want string }{
		{"issue.body matches `([a-y]|[b-z])*[0-9]{3}x`", "too much work on a text of this size"},
		{"issue.body matches `(a?){500}[0-9]`", "the pattern is too large"},
		{"all(1..10000, all(1..10000, # > 0))", "a range has at most 1000 elements"},
	}
	var requests []playgroundRequest
	for _, tt := range tests {
		requests = append(requests, playgroundRequest{
			Rules: "version: 1\nrules:\n  - {id: a, on: issues.opened, when: '" + tt.condition + "', then: [{add_label: x}]}\n", Values: map[string]any{"issue.body": body},
		})
	}
	for i, a := range askNode(t, requests) {
		if got := a.Error + string(a.Problems) + string(a.Report); !strings.Contains(got, tests[i].want) {
			t.Errorf("%s: got %.500s, want %q", tests[i].condition, got, tests[i].want)
		}
	}
}

// fiftyRules are the ten rules of make bench, five times.
func fiftyRules(t *testing.T) string {
	t.Helper()
	head, list, _ := strings.Cut(string(read(t, "cmd/bench/testdata/foreman.yml")), "rules:\n")
	all := head + "rules:\n"
	for i := range 5 {
		all += strings.ReplaceAll(list, "- id: ", fmt.Sprintf("- id: n%d-", i))
	}
	return all
}

// TestPlaygroundSpeed measures the engine with 50 rules in node, and the loading time and answers
// of the page in the browser: right after it was loaded, and at the pace of a person who types, since
// the worker prepares the engine in the pauses. It only logs the times, because the machine may be busy.
func TestPlaygroundSpeed(t *testing.T) {
	payload := string(read(t, "../../testdata/events/issues/opened.payload.json"))
	request := playgroundRequest{Rules: fiftyRules(t), Payload: payload, Runs: 30}
	a := askNode(t, []playgroundRequest{request})[0]
	var explained struct{ Rules []json.RawMessage }
	if err := json.Unmarshal(a.Explanation, &explained); err != nil || len(explained.Rules) != 50 {
		t.Fatalf("%d rules were explained: %v %s", len(explained.Rules), err, a.Problems)
	}
	t.Logf("node: 50 rules in %.1f ms, with %.1f ms of CPU", a.Took, a.CPU)

	b, address := newPlayground(t, 1400)
	b.do(`document.getElementById("by-payload").click()`)
	edit := func(n int) string {
		b.fill(map[string]string{"payload": payload, "rules": request.Rules + fmt.Sprintf("# %d\n", n)})
		return eval[string](b, `document.documentElement.dataset.took`)
	}
	var atOnce, typed []string
	for i := range 5 {
		atOnce = append(atOnce, edit(i))
	}
	t.Logf("browser: 50 rules in %s ms, changed five times without a pause after the page was loaded", strings.Join(atOnce, ", "))
	const pause = 500 * time.Millisecond // as people make when they type
	for i := range 20 {
		b.run(chromedp.Sleep(pause))
		typed = append(typed, edit(5+i))
	}
	t.Logf("browser: 50 rules in %s ms, changed every %v", strings.Join(typed, ", "), pause)
	var loads []string
	for range 5 {
		b.run(chromedp.Navigate("about:blank"))
		b.run(chromedp.Navigate(address))
		b.answered(1)
		loads = append(loads, fmt.Sprintf("%.0f", eval[float64](b, `Number(document.documentElement.dataset.answeredAt)`)))
	}
	t.Logf("browser: first answer %s ms after the navigation, with a warm cache", strings.Join(loads, ", "))
}
