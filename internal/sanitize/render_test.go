package sanitize

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderhtml "github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// marker is an example of the hidden line at the start of every comment.
const marker = "<!-- foreman:v1 task=t comment=0 -->"

// posted returns a comment as it is posted.
func posted(body string) string { return marker + "\n\n" + body }

// mail matches the email addresses that GitHub links: section 6.9 of its specification.
var mail = regexp.MustCompile(`^[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*[A-Za-z0-9])+`)

// page and www match the web addresses that GitHub links, ignoring case.
var (
	page = regexp.MustCompile(`(?i)^(?:https?|ftp)://[a-z0-9_-](?:[^\s<]*[^\s<"'])?`)
	www  = regexp.MustCompile(`(?i)^www\.[a-z0-9_-](?:[^\s<]*[^\s<"'])?`)
)

// renderer renders GitHub Flavored Markdown. It does not change HTML, because GitHub parses it,
// too.
var renderer = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.NewLinkify(
	extension.WithLinkifyEmailRegexp(mail), extension.WithLinkifyURLRegexp(page), extension.WithLinkifyWWWRegexp(www),
)), goldmark.WithRendererOptions(renderhtml.WithUnsafe()))

// disallowed matches the tags that GitHub always shows as typed: section 6.11 of its specification.
var disallowed = regexp.MustCompile(`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)\b)`)

// render returns the HTML document for a Markdown text, as a browser parses it.
func render(t testing.TB, text string) *nethtml.Node {
	t.Helper()
	var out bytes.Buffer
	if err := renderer.Convert([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	doc, err := nethtml.Parse(bytes.NewReader(disallowed.ReplaceAll(out.Bytes(), []byte("&lt;$1"))))
	if err != nil {
		t.Skip("nested too deep for this reader of HTML: ", err)
	}
	return doc
}

// acts matches what GitHub turns into mentions and references in the text of a rendered document,
// outside of code and links.
var acts = regexp.MustCompile(`(?i)(?:^|[^a-z0-9_/&])(@[a-z0-9][a-z0-9-]*)|(?:^|[^a-z0-9&])(#[0-9]+|gh-[0-9]+)`)

// live returns the active parts of a rendered document: mentions, references, and links and images
// whose host is not allowed.
func live(doc *nethtml.Node, allow func(host string) bool) []string {
	var found []string
	var walk func(n *nethtml.Node, code, linked bool)
	walk = func(n *nethtml.Node, code, linked bool) {
		switch n.Type {
		case nethtml.TextNode:
			if !code && !linked {
				for _, m := range acts.FindAllStringSubmatch(n.Data, -1) {
					found = append(found, m[1]+m[2])
				}
			}
		case nethtml.ElementNode:
			switch n.Data {
			case "code", "pre", "tt", "script", "style":
				code = true
			case "a":
				linked = true
			}
			for _, a := range n.Attr {
				if allow != nil && slices.Contains(shownTags, n.Data) && (a.Key == "href" || a.Key == "src" || a.Key == "srcset" || a.Key == "longdesc") && leads(a.Val, allow) {
					found = append(found, n.Data+" "+a.Key+"="+a.Val)
				}
			}
		default:
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, code, linked)
		}
	}
	walk(doc, false, false)
	return found
}

// leads reports whether an address leads to a host that is not allowed.
func leads(address string, allow func(host string) bool) bool {
	address = strings.TrimSpace(address)
	if scheme, rest, _ := strings.Cut(address, ":"); scheme == "mailto" || scheme == "xmpp" {
		local, host := rest[:max(strings.LastIndexByte(rest, '@'), 0)], rest[strings.LastIndexByte(rest, '@')+1:]
		if strings.TrimFunc(local, word("._+-")) != "" {
			return false // this renderer links it, but GitHub does not
		}
		host, _, _ = strings.Cut(host, "/")
		return !allow(strings.ToLower(host))
	}
	u, err := url.Parse(address)
	if err != nil {
		_, rest, _ := strings.Cut(address, "://")
		authority, _, _ := strings.Cut(rest, "/")
		// No browser opens a host with one of these: URL Standard, "forbidden domain code point".
		return !regexp.MustCompile("^[^@?#]*%(5D|7C|3E)[^@?#]*$").MatchString(authority)
	}
	if u.Scheme == "" && u.Host == "" {
		return false // a page of the same host
	}
	return (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "") || !allow(strings.ToLower(u.Hostname()))
}

// hidden reports whether the rendered document contains the whole marker as a comment, and shows no
// part of it.
func hidden(doc *nethtml.Node) bool {
	found, shown := false, false
	var walk func(n *nethtml.Node)
	walk = func(n *nethtml.Node) {
		switch n.Type {
		case nethtml.CommentNode:
			found = found || "<!--"+n.Data+"-->" == marker
		case nethtml.TextNode:
			shown = shown || strings.Contains(n.Data, "foreman:v1 task=t")
		default:
		}
		for _, a := range n.Attr {
			shown = shown || strings.Contains(a.Val, "foreman:v1 task=t")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	return found && !shown
}

// shape returns the elements of a document with the names of their attributes. It includes links
// only if links is true.
func shape(doc *nethtml.Node, links bool) string {
	var b strings.Builder
	var walk func(n *nethtml.Node)
	walk = func(n *nethtml.Node) {
		counts := n.Type == nethtml.CommentNode || n.Type == nethtml.ElementNode && (links || n.Data != "a")
		if counts && n.Type == nethtml.CommentNode {
			b.WriteString("(!")
		} else if counts {
			b.WriteString("(" + n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if counts {
			b.WriteString(")")
		}
	}
	walk(doc)
	return b.String()
}

// hosts returns the hosts of the links and images of a document.
func hosts(doc *nethtml.Node) []string {
	var list []string
	var walk func(n *nethtml.Node)
	walk = func(n *nethtml.Node) {
		for _, a := range n.Attr {
			if u, err := url.Parse(a.Val); (a.Key == "href" || a.Key == "src") && err == nil {
				list = append(list, u.Host)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	return list
}

// places are texts in which "*" is a value, and the place of that value.
var places = []struct {
	text  string
	place Place
}{
	{"a * b", InText}, {"*", AtLineStart}, {"`*`", InCode}, {"```\n*\n```", InCode}, {"```\n<a href=\"*\">\n```", InCode}, {"<b>*</b>", InText},
	{"__a * b__ _c_", InText}, {"~~* b~~", InText}, {"- a\n- *\n- _c_", AtLineStart}, {"`a` *, `b`", InText}, {"| a |\n| - |\n| * |", InText},
	{"<!-- a --> *", InText}, {"a < b *", InText}, {"https://example.com *", InText},
	{"*. text", AtLineStart}, {"a\n\n *) text", AtLineStart}, {"> - *. text", AtLineStart}, {"1. [ ] *. text", AtLineStart}, {"a *. text", InText},
	{"[x](a(b)/*)", InURLPath}, {"[x](a(b)/*/c)", InURLPath}, {"[x](b) [y](c(d)?e=*)", InURLQuery}, {"[x](a)b*", InText}, {"(see [x](a)*)", InText},
	{"<a href=\"docs/a b/*\">x</a>", InURLPath}, {"<a href='a \"b\"/*'>x</a>", InURLPath}, {"<img srcset=\"a.png 1x, b/*\">", InURLPath},
	{"<img srcset=\"a.png 1x, *\">", InDestination}, {"<img src=\"docs\" title=\"*\">", InAttribute},
	{"<img title=\"*\" alt='x'>", InAttribute}, {"<img title='a *'>", InAttribute}, {"<div\ntitle=\"a=*\">x</div>", InAttribute},
	{"<details>\n\n<p title=\"*\">", InAttribute}, {"<img title=\"a > b *\">", InAttribute},
	{"<img title=*>", InBareAttribute}, {"<img width = 1*>", InBareAttribute}, {"<img *>", InTag}, {"<img title=\"a\" *>", InTag}, {"</p*>", InTag},
	{"<!-- * -->", InHTMLComment}, {"<!-- a\n\n* -->", InHTMLComment}, {"a <!-- * --> b", InHTMLComment}, {"<? * ?>", InHTMLComment},
	{"https://example.com/*", InURLPath}, {"[x](https://example.com/a/*/b)", InURLPath}, {"<https://example.com/a-*>", InURLPath},
	{"<a href=\"https://example.com/*\">x</a>", InURLPath}, {"www.example.com/*", InURLPath}, {"https://example.com/?a#*", InURLPath},
	{"https://example.com/?q=*&r", InURLQuery}, {"![x](https://img.example.com/badge?*)", InURLQuery},
	{"https://*", InURLHost}, {"https://*.example.com/", InURLHost}, {"https://example.com*", InURLHost}, {"https://example.com:*", InURLHost},
	{"[x](/*)", InURLRoot}, {"[x]: /*\n\n[x]", InURLRoot}, {"[x](/a?b=*)", InURLQuery}, {"<a href=\"/*\">x</a>", InURLRoot}, {"<a href=\"//*\">x</a>", InURLHost},
	{"<a href=\"*\">x</a>", InDestination}, {"[x](\n*)", InDestination}, {"[x](mailto:*)", InURLHost}, {"[*](https://example.com)", InText}, {"![*](https://example.com/)", InText},
	{"[x](https://example.com \"by *\")", InTitle}, {"[x](/a 'by *')", InTitle}, {"[x](/a (by *))", InTitle}, {"[x]: /a \"by *\"\n\n[x]", InTitle},
	{"<img src=https://example.com/*>", InURLPath}, {"[^1]\n\n[^1]: *", AtLineStart}, {"[^1]\n\n[^1]: see \"*\"", InText}, {"[^]\n\n[^]: /a \"*\"", InTitle},
	{"*\n\n[docs]: https://example.com", AtLineStart}, {"[x](*)", InDestination}, {"[x](<*>)", InDestination}, {"[x]: *\n\n[x]", InDestination},
}

func TestPlaceAt(t *testing.T) {
	t.Parallel()
	for _, tt := range places {
		before, _, _ := strings.Cut(tt.text, "*")
		if got := PlaceAt(before); got != tt.place {
			t.Errorf("%q: got %d, want %d", tt.text, got, tt.place)
		}
	}
	// GitHub does not read this as a footnote, but the renderer of these tests does.
	if got := PlaceAt("[^a b]\n\n[^a b]: "); got != InDestination {
		t.Errorf("the definition of a link with a space in its label: got %d, want %d", got, InDestination)
	}
}

// TestPathsStay puts values into the paths of relative links, which must not lead above the
// folder before the value.
func TestPathsStay(t *testing.T) {
	t.Parallel()
	for _, tt := range places {
		if tt.place != InURLPath && tt.place != InURLRoot || strings.Contains(tt.text, "example.com") {
			continue
		}
		for _, v := range []string{"..", ".", "../..", "../../evil", "/evil", "a/../../b", ". .", "%2e%2e"} {
			before, after, _ := strings.Cut(tt.text, "*")
			want := paths(render(t, before+"x"+after))
			got := paths(render(t, before+ValueAt(v, tt.place)+after))
			if len(got) != 1 || len(want) != 1 {
				t.Fatalf("%q: got the paths %q, want one", tt.text, got)
			}
			folder, _, _ := strings.Cut(want[0], "x")
			if !strings.HasPrefix(got[0], folder) {
				t.Errorf("%q in %q: it leads to %q, and not below %q", v, tt.text, got[0], folder)
			}
		}
	}
}

// TestNothingInPaths puts an empty value in front of another one in a path. The second value must
// not become the host of the address.
func TestNothingInPaths(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[x](/*/*)", "[x](/**/*)", "[x](</*/*>)", "[x]: /*/*\n\n[x]", "<a href=\"/*/*\">x</a>", "<img src='/*/*'>"} {
		for _, nothing := range []string{"", " ", ".", "..", "\u200b"} {
			var b, before strings.Builder
			parts := strings.Split(text, "*")
			for i, part := range parts {
				b.WriteString(part)
				before.WriteString(part)
				switch i {
				case len(parts) - 1:
				case len(parts) - 2:
					b.WriteString(ValueAt("evil.example", PlaceAt(before.String())))
				default:
					b.WriteString(ValueAt(nothing, PlaceAt(before.String())))
				}
				before.WriteString("x")
			}
			if got := hosts(render(t, b.String())); !slices.Equal(got, []string{""}) {
				t.Errorf("%q with %q: %q leads to the hosts %q", text, nothing, b.String(), got)
			}
		}
	}
}

// paths returns the targets of the links and images of a document, resolved from the page of an
// issue.
func paths(doc *nethtml.Node) []string {
	issue := &url.URL{Scheme: "https", Host: "github.com", Path: "/octo/hello/issues/7"}
	var list []string
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "srcset" {
				a.Val = a.Val[strings.LastIndexAny(a.Val, " ,")+1:]
			} else if a.Key != "href" && a.Key != "src" {
				continue
			}
			if to, err := issue.Parse(strings.NewReplacer(" ", "%20", `"`, "%22").Replace(a.Val)); err == nil {
				list = append(list, to.EscapedPath())
			}
		}
	}
	return list
}

// proposals returns a text with a rationale at the places where Foreman puts one.
func proposals(rationale string) string {
	return "Proposed:\n\n- [ ] 1 add `bug` \u00b7 high <!-- foreman:p 1 0 -->\n  " + rationale + "\n- [ ] 2 close <!-- foreman:p 2 0 -->\n  " + rationale +
		"\n\n" + rationale + "\n\n> " + rationale + "\n\n- " + rationale + "\n\nTick a box: " + rationale + "\nEnd"
}

// unstyled returns the names of a document's elements and comments, without emphasis.
func unstyled(doc *nethtml.Node) string {
	var names []string
	for n := range doc.Descendants() {
		if n.Type == nethtml.CommentNode || n.Type == nethtml.ElementNode && !slices.Contains([]string{"em", "strong", "del"}, n.Data) {
			names = append(names, n.Data)
		}
	}
	return strings.Join(names, " ")
}

// FuzzPlaces puts a value in every place. It must change neither the elements around it nor the
// targets of links.
func FuzzPlaces(f *testing.F) {
	seed(f)
	for _, s := range []string{`" onclick="x`, "' title='", "-->", "--!> x", "../../evil", "..", "/evil/repo/issues/1", "?a=b#c", "x) [y](https://evil.example", "/evil.example", "https://evil.example/", "a] b", "a\" b", "a) b", "[docs]", `\*a\*`, "foremAn:", "http://example.org/discussions(htt[s://git", "ok, (http://evil.example/a_(", "ht\ufffdU://evil.example/a_(b", ".evil.example", "@evil.example", "a b", "<b>", ">", "`x`", "%2e%2e/", "1", "7", ".", "a=b",
		"https://github.com/octo/hello/issues/7", "http://ghe.local:8443/_a_/b__c/pull/1", "https://github/a_/_b/issues/1", "octo/hello", "../..", "evil.example/x", "_a/b_"} {
		f.Add(s)
	}
	// The rendering of a place with a harmless value.
	type rendered struct {
		shape string
		hosts []string
		links bool // its links must stay
	}
	var wants []rendered
	for _, tt := range places {
		doc := render(f, posted(Trusted(strings.Replace(tt.text, "*", "x", 1))))
		links := tt.place != InText && tt.place != AtLineStart && tt.place != InCode && tt.place != InURLHost
		wants = append(wants, rendered{shape(doc, links), hosts(doc), links})
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, tt := range places {
			want := wants[i]
			before, after, _ := strings.Cut(tt.text, "*")
			values := []string{ValueAt(s, tt.place)}
			if supplied := SuppliedAt(s, tt.place); supplied != values[0] {
				values = append(values, supplied)
			}
			for _, value := range values {
				if value == "" {
					continue // without a value the text is the maintainer's own
				}
				if strings.ContainsAny(value, "\n") {
					t.Errorf("%q: more than a line", value)
				}
				got := render(t, posted(Trusted(before+value+after)))
				if s := shape(got, want.links); s != want.shape {
					t.Errorf("%q in %q: the elements are\n%s\nand were\n%s", value, tt.text, s, want.shape)
				}
				if h := hosts(got); want.links && tt.place != InDestination && !slices.Equal(h, want.hosts) {
					t.Errorf("%q in %q: links lead to %q, and not to %q", value, tt.text, h, want.hosts)
				}
				if !hidden(got) {
					t.Errorf("%q in %q: the marker is shown or lost", value, tt.text)
				}
			}
		}
	})
}

// FuzzRendered checks comments with a renderer of GitHub Flavored Markdown.
func FuzzRendered(f *testing.F) {
	seed(f)
	for _, s := range []string{
		"\\`<a href=\"https://evil.example\">x</a>`", "\\`<img src=https://evil.example/x.png>`", "\\`<https://evil.example>`",
		"<details>\n`<a href=\"https://evil.example\">x</a>`\n</details>", "<div>\n```\n<img src=\"//evil.example\">\n```\n</div>",
		"\\`<a\nhref=https://evil.example>`", "https://exampl\u0131.com https://EXAMPLE.COM www.\u0130.com", "mailto:a@evil.example xmpp:a@evil.example/x a@evil.example",
		"<mailto:a@evil.example> <a@evil.example> a_@evil.example a@example.com", "[x]: mailto:a@evil.example\n[x]", "http://0.a@octocat", "<detAils>`<A`", "\\`<A0:0>`",
		"https://example.com>@evil.example/x", "https://example.com\u00a0@evil.example [x](https://example.com<@evil.example)", "[x]: https://example.com<@evil.example\n\n[x]",
		"https://example.com:" + strings.Repeat("0", 1100) + "@evil.example/x", "\\`<image src=\"//evil.example/x.png\">`", "<div>\n\u00a0\n```\n\n```\nx", "<b>\u00a0\n```\n\n```\nx",
		"<details>\n`<p =\"><p title=\">`", "<div =\"><!--\">", "<div a==\"><!--\">", "<div><!-- --!><b title=\"-->", "<div><svg><![CDATA[>", "<div><xmp/x>", "- ```\n  <\n> @a\n<x>\nx- ```\n  ```", "<0@000000>", "a><!-- --!><b title=\"-->",
		"https://example.com\"@evil.example [x](https://example.com\"@evil.example/) https://example.com`@evil.example` (https://example.com)x.evil.example",
		"https://example.com` @octocat `", "https://example.com]` https://example.com|` https://example.com.` <https://example.com>`",
	} {
		f.Add(s)
	}
	own := func(host string) bool { return host == "example.com" }
	f.Fuzz(func(t *testing.T, s string) {
		for _, o := range []Options{{}, {AllowLink: own}} {
			got := Comment(s, o)
			doc := render(t, posted(got))
			for _, what := range live(doc, o.AllowLink) {
				t.Errorf("%q is live in %q", what, got)
			}
			if !hidden(doc) {
				t.Errorf("the marker is shown or lost before %q", got)
			}
		}
		if got := Trusted(s); !hidden(render(t, posted(got))) {
			t.Errorf("the marker is shown or lost before the trusted %q", got)
		}
	})
}
