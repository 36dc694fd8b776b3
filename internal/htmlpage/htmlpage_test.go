package htmlpage_test

import (
	"html/template"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/htmlpage"
)

// TestRender checks that data is escaped everywhere, and that the page loads nothing.
func TestRender(t *testing.T) {
	t.Parallel()
	const layout = `{{define "title"}}{{.}}{{end}}{{define "main"}}<h1>{{up .}}</h1><a href="{{.}}">x</a>{{end}}`
	page := htmlpage.Render(layout, template.FuncMap{"up": strings.ToUpper}, `javascript:"</title><script>`)
	for _, want := range []string{"<!DOCTYPE html>", "<title>javascript:&#34;&lt;/title&gt;&lt;script&gt;</title>", "<h1>JAVASCRIPT:", `<a href="#ZgotmplZ">`, "default-src 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "src=") || !strings.HasSuffix(page, "</html>\n") {
		t.Errorf("got\n%s", page)
	}
}
