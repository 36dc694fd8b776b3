package backtest

import (
	"fmt"
	"strings"
	"time"
)

// HTML returns a report as a self-contained page without scripts. It is light or dark like the
// reader's system.
func HTML(r Report) string {
	p := &page{}
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n" +
		"<meta name=\"referrer\" content=\"no-referrer\">\n")
	p.element("title", "The rules of "+r.Repo+", replayed")
	p.raw("<style>\n" + style + "</style>\n</head>\n<body>\n<main>\n")
	p.element("h1", "The rules, replayed")
	p.element("p", headline(r)+".")
	if r.ComparedWith != "" {
		p.element("p", "Compared with "+r.ComparedWith+".")
	}
	if r.Stopped != nil {
		p.raw(`<p class="warn">`)
		p.text("Not complete: " + r.Stopped.String() + ".")
		p.raw("</p>\n")
	}
	p.verdicts(r)
	p.months(r)
	p.table(r)
	for _, rule := range r.Rules {
		p.rule(rule)
	}
	p.element("h2", "How to read this")
	p.raw("<ul>\n")
	for _, n := range r.Notes {
		p.element("li", n)
	}
	p.raw("</ul>\n")
	p.element("footer", "Made by Foreman on "+r.At.Format(time.RFC3339)+".")
	p.raw("</main>\n</body>\n</html>\n")
	return p.b.String()
}

// style is the style sheet of the page.
const style = `:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#59636e;--line:#d1d9e0;--good:#2da44e;--bad:#cf222e;--open:#9a9fa5;--bar:#0969da;--old:#b6c7dc}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;--good:#3fb950;--bad:#f85149;--open:#6e7681;--bar:#4493f8;--old:#35506f}}
body{background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;margin:0}
main{max-width:60rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{border-bottom:1px solid var(--line);padding:.3rem .7rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
a{color:var(--bar)}
svg{max-width:100%;height:auto}
svg text{fill:var(--fg);font:12px system-ui,sans-serif}
.dim,footer{color:var(--dim)}
.warn{border-left:4px solid var(--bad);padding-left:.7rem}
.good{fill:var(--good)}.bad{fill:var(--bad)}.open{fill:var(--open)}.bar{fill:var(--bar)}.old{fill:var(--old)}
`

// A page is a document under construction. Everything except raw text is escaped.
type page struct{ b strings.Builder }

// raw writes markup. Its argument must consist of constants and numbers only.
func (p *page) raw(s string) { p.b.WriteString(s) }

// text writes untrusted text.
func (p *page) text(s string) { p.b.WriteString(escape(s)) }

// element writes an element without attributes.
func (p *page) element(name, text string) {
	p.raw("<" + name + ">")
	p.text(text)
	p.raw("</" + name + ">\n")
}

// escape escapes text for elements and for attributes in quotes.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "`", "&#96;", "\x00", "").Replace(s)
}

// table writes the same table as the other formats.
func (p *page) table(r Report) {
	p.element("h2", "All rules")
	p.raw("<table>\n<thead><tr>")
	for _, name := range columns(r) {
		p.element("th", name)
	}
	p.raw("</tr></thead>\n<tbody>\n")
	for _, rule := range r.Rules {
		p.raw("<tr>")
		for _, cell := range cells(r, rule) {
			p.element("td", cell)
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody>\n</table>\n")
}

// rule renders the details of a rule, which do not fit into the table.
func (p *page) rule(r Rule) {
	if r.NotReplayed == "" && r.Failed == 0 && len(r.Labels) < 2 && len(r.Disagreements)+len(r.NewlyFiresOn)+len(r.NoLongerFiresOn) == 0 {
		return
	}
	p.element("h3", r.ID)
	p.raw(`<p class="dim">`)
	p.text(fmt.Sprintf("%s:%d", r.File, r.Line))
	p.raw("</p>\n")
	if r.NotReplayed != "" {
		p.element("p", "Not replayed: "+r.NotReplayed+".")
	}
	if r.Failed > 0 {
		p.element("p", fmt.Sprintf("Cannot be judged on %s, and does nothing there: %s", many(r.Failed, "issue"), r.Failure))
	}
	if len(r.Labels) > 1 {
		p.raw("<table>\n<thead><tr>")
		for _, name := range []string{"label", "added", "agreed", "disagreed", "undecided", "precision", "recall"} {
			p.element("th", name)
		}
		p.raw("</tr></thead>\n<tbody>\n")
		for _, l := range r.Labels {
			p.raw("<tr>")
			for _, cell := range append([]string{l.Name}, figureCells(l.Figures, true)...) {
				p.element("td", cell)
			}
			p.raw("</tr>\n")
		}
		p.raw("</tbody>\n</table>\n")
	}
	p.links(fmt.Sprintf("People disagree on %s", many(r.Disagreed, "issue")), r.Disagreements)
	p.links(fmt.Sprintf("Newly fires on %s", many(r.NewlyFires, "issue")), r.NewlyFiresOn)
	p.links(fmt.Sprintf("No longer fires on %s", many(r.NoLongerFires, "issue")), r.NoLongerFiresOn)
}

func (p *page) links(title string, list []Link) {
	if len(list) == 0 {
		return
	}
	p.element("p", title+":")
	p.raw("<ul>\n")
	for _, l := range list {
		p.raw("<li>")
		if l.URL != "" {
			p.raw(`<a rel="noopener noreferrer" href="`)
			p.text(l.URL)
			p.raw(`">`)
		}
		p.text(fmt.Sprintf("#%d", l.Issue))
		if l.URL != "" {
			p.raw("</a>")
		}
		p.text(" " + l.Title + suffix(l))
		p.raw("</li>\n")
	}
	p.raw("</ul>\n")
}
