package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// openSite serves the site below a path, as GitHub Pages does, and opens one of its pages.
func openSite(t *testing.T, page string) (b *tab, root string) {
	t.Helper()
	const below = "/foreman-action/"
	mux := http.NewServeMux()
	mux.Handle(below, http.StripPrefix(below, http.FileServer(http.Dir(siteDir(t)))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b = newTab(t)
	b.screen(1400, "light")
	root = server.URL + below
	b.run(chromedp.Navigate(root + page))
	return b, root
}

// query types a text into the search field, and waits for the results.
func (b *tab) query(text string) {
	b.t.Helper()
	b.until(`document.getElementById("site.search")?.hidden === false`) // the page is ready
	b.do(`document.getElementById("site.found").textContent = "", document.getElementById("site.query").value = "", document.body.focus(), document.activeElement.blur()`)
	// chromedp would send a separate event for the character after the key, which a real browser does
	// not do.
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Code: "Slash", Text: "/"})
	if got := eval[string](b, `document.activeElement.id`); got != "site.query" {
		b.t.Fatalf("/ leads to %q", got)
	}
	b.run(chromedp.KeyEvent(text))
	b.until(fmt.Sprintf(`document.getElementById("site.panel").dataset.query === %q`, text))
}

// TestSiteSearch searches by keyboard alone, from a page below the root.
func TestSiteSearch(t *testing.T) {
	b, root := openSite(t, "docs/rules.html")
	for _, tt := range []struct{ query, page string }{
		{"sticky comment", "docs/actions.html"},
		{"rate limit", "docs/contribflow.html"},
		{"exit codes", "docs/inputs.html"},
		{"extends", "docs/extends.html"},
		{"permis", "docs/earned.html"}, // a prefix of a word
		{"how do I replay the past?", "docs/backtest.html"},
		{"reopen when the author answers", "docs/recipes/reopen-on-answer.html"},
		{"hacktoberfest", "docs/recipes/pull-request-limit.html"},
		{"stale", "docs/recipes/stale.html"},
		{"label groups that exclude each other", "docs/recipes/exclusive-labels.html"},
		{"screenshot", "docs/recipes/missing-screenshot.html"},
	} {
		b.query(tt.query)
		first := eval[string](b, `document.querySelector("[id='site.results'] a")?.href ?? ""`)
		if got, _, _ := strings.Cut(first, "#"); got != root+tt.page {
			t.Errorf("%q: the first result is %s, want %s", tt.query, first, tt.page)
		}
	}

	b.query("sticky comment")
	b.shoot("site-search")
	press := func(keys string) { b.t.Helper(); b.run(chromedp.KeyEvent(keys)) }
	active := func() string { return eval[string](b, `document.activeElement.href || document.activeElement.id`) }
	press(kb.ArrowDown)
	first := active()
	press(kb.ArrowDown)
	if second := active(); first == second || !strings.HasPrefix(second, root) {
		t.Errorf("the arrow leads from %s to %s", first, second)
	}
	press(kb.ArrowUp)
	press(kb.ArrowUp)
	if got := active(); got != "site.query" {
		t.Errorf("the arrow leads back to %s", got)
	}
	press(kb.Escape)
	if eval[bool](b, `!document.getElementById("site.panel").hidden`) {
		t.Error("Escape does not close the results")
	}
	b.query("sticky comment")
	press(kb.Enter)
	b.until(fmt.Sprintf(`location.href === %q`, first))

	b.query("xyzzyx")
	if got := b.text("site.found"); got != "Nothing found. Try other words." {
		t.Errorf("a search without results: %q", got)
	}
}

// TestSiteWalk follows links from the index to a guide and back to the first page, and copies a
// code block.
func TestSiteWalk(t *testing.T) {
	b, root := openSite(t, "docs/")
	follow := func(link, to string) {
		t.Helper()
		b.do(fmt.Sprintf(`[...document.querySelectorAll("a")].find((a) => a.textContent === %q).click()`, link))
		b.until(fmt.Sprintf(`location.href === %q && document.readyState === "complete"`, root+to))
	}
	follow("Triage by rules", "docs/guides/rules.html")
	b.do(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	b.do(`document.querySelector("main .code button").click()`)
	b.until(`window.copied && window.copied === document.querySelector("main pre").textContent && document.querySelector("main .code button").textContent === "Copied"`)
	// The button covers no text, not even of a single line.
	if bad := eval[[]string](b, `[...document.querySelectorAll("main .code")].filter((c) => {
		const text = c.querySelector("pre").getBoundingClientRect(), button = c.querySelector("button").getBoundingClientRect();
		return text.right > button.left || button.bottom > c.getBoundingClientRect().bottom;
	}).map((c) => c.innerText)`); len(bad) > 0 {
		t.Errorf("the button covers text of %q", bad)
	}
	follow("The rule language", "docs/rules.html")
	follow("A rule", "docs/rules.html#a-rule")
	if got := eval[float64](b, `Math.abs(document.getElementById("a-rule").getBoundingClientRect().top)`); got > 100 {
		t.Errorf("the heading is %.0f pixels away from the top", got)
	}
	follow("Foreman", "")
	if got := eval[float64](b, `document.querySelector("main img").naturalWidth`); got == 0 {
		t.Error("the picture of the first page is not shown")
	}
	if got := eval[[]string](b, `performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin))`); len(got) > 0 {
		t.Errorf("the page loads from elsewhere: %v", got)
	}
}

// TestSiteDiagrams: the diagrams are drawn, in colours that stand out in light and dark.
func TestSiteDiagrams(t *testing.T) {
	b, _ := openSite(t, "docs/build.html")
	if got := eval[int](b, `document.querySelectorAll("main .diagram svg").length`); got != 2 {
		t.Errorf("%d diagrams are drawn, want 2", got)
	}
	if got := eval[string](b, `document.querySelector(".diagram svg").getAttribute("aria-label")`); !strings.Contains(got, "checks (a required one fails) to Builder") {
		t.Errorf("the diagram in words: %s", got)
	}
	colors := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b.screen(1400, scheme)
		colors[eval[string](b, `getComputedStyle(document.querySelector(".diagram text")).fill`)] = true
		if got := eval[bool](b, `[...document.querySelectorAll(".diagram svg")].every((s) => s.getBoundingClientRect().width > 300 && s.querySelector("text").getBoundingClientRect().height > 8)`); !got {
			t.Errorf("%s: a diagram is too small", scheme)
		}
		b.do(`document.querySelector(".diagram").scrollIntoView()`)
		b.shoot("site-diagram-" + scheme)
	}
	if len(colors) != 2 {
		t.Errorf("the colours are the same in light and dark: %v", colors)
	}
}

// TestSiteTables: on a phone a wide table keeps the width of its words, and scrolls.
func TestSiteTables(t *testing.T) {
	b, _ := openSite(t, "docs/inputs.html")
	b.screen(390, "light")
	if bad := eval[[]string](b, `[...document.querySelectorAll("main .scroll")].filter((s) => s.querySelectorAll("th").length > 2 && (s.scrollWidth <= s.clientWidth || s.querySelector("td").clientWidth < 100)).map((s) => s.innerText.slice(0, 60))`); len(bad) > 0 {
		t.Errorf("tables that are squeezed: %q", bad)
	}
	if eval[int](b, `document.querySelectorAll("main .scroll[tabindex]").length`) == 0 {
		t.Error("the keyboard cannot scroll the tables")
	}
}

// TestSiteLook opens every page on desktop and phone screens, in light and dark. The pages of
// recipes look alike, so one of them stands for all.
func TestSiteLook(t *testing.T) {
	b, root := openSite(t, "")
	var pages []string
	err := fs.WalkDir(os.DirFS(siteDir(t)), ".", func(name string, _ fs.DirEntry, err error) error {
		recipe := strings.HasPrefix(name, "docs/recipes/") && name != "docs/recipes/index.html" && name != "docs/recipes/stale.html"
		if filepath.Ext(name) == ".html" && !strings.HasPrefix(name, "playground/") && !recipe {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 40 {
		t.Fatal(pages, err)
	}
	for _, name := range pages {
		b.run(chromedp.Navigate(root + name))
		for _, width := range []int64{1400, 390} {
			for _, scheme := range []string{"light", "dark"} {
				b.screen(width, scheme)
				what := fmt.Sprintf("docs %s, %s, %d", name, scheme, width)
				if bad := eval[[]string](b, contrast); len(bad) > 0 {
					t.Errorf("%s: texts that do not stand out:\n%s", what, strings.Join(bad, "\n"))
				}
				// innerWidth cannot be used: on a phone it grows with content that is too wide.
				if over := eval[int64](b, `document.documentElement.scrollWidth`) - width; over > 0 {
					t.Errorf("%s: it is %d pixels wider than the screen", what, over)
				}
				b.shoot(fmt.Sprintf("site-%s-%s-%d", strings.ReplaceAll(name, "/", "-"), scheme, width))
			}
		}
		b.named("docs " + name)
	}
}
