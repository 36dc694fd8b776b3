package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
)

// PlainLines returns the lines of a comment that readers see as its author's own text. These are
// the lines of top-level paragraphs and headings, not of quotes, lists, tables, code, math, HTML
// comments or HTML elements. A line is returned whole, as it was typed.
//
// PlainLines follows CommonMark. Where a text could be read in more than one way it returns fewer
// lines. After a "[", which may begin a link, a definition or a footnote, or after "$$" it skips
// the rest of the paragraph. After HTML that is not well nested it skips the rest of the comment.
// It returns no lines for a text with form feeds or vertical tabs, which not all programs treat as
// space, or with more than maxPrefix markers of quotes and lists before a line.
func PlainLines(comment string) []string {
	if strings.ContainsAny(comment, "\f\v") {
		return nil
	}
	comment = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(comment)
	comment = blankLines().ReplaceAllString(comment, "\n\n") // each costs time in every open list
	comment = tabInTag().ReplaceAllString(comment, "$1 ")    // the parser expects a space
	for line := range strings.Lines(comment) {
		if len(line)-len(strings.TrimLeft(line, " \t>-+*0123456789.)")) > maxPrefix {
			return nil
		}
	}
	source := []byte(comment)
	// Other inline parsers would only cost time, because their markup does not matter here.
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewRawHTMLParser(), 200)),
	)
	w := plainWalker{source: source}
	doc := p.Parse(gmtext.NewReader(source))
	for n := doc.FirstChild(); n != nil && !w.swallowed; n = n.NextSibling() {
		w.block(n)
	}
	return w.lines
}

// maxPrefix is the largest number of bytes of quote and list markers before a line. The parser's
// time grows with the square of the nesting depth.
const maxPrefix = 64

// blankLines matches blank lines.
var blankLines = text.Regexp(`\n(?:[ \t]*\n)+`)

// tabInTag matches a tab after the name of a tag.
var tabInTag = text.Regexp(`(</?[A-Za-z][A-Za-z0-9]*)\t`)

// maxTags limits the number of open tags, and the number of lines that may begin a block of HTML.
const maxTags = 16

// elements lists the HTML elements with an end tag that GitHub shows or browsers hide. It includes
// select, in which browsers ignore end tags. Other elements have no effect: GitHub drops their
// tags.
var elements = strings.Fields("a abbr b bdo blockquote caption cite code dd del details dfn div dl dt em figcaption figure " +
	"h1 h2 h3 h4 h5 h6 h7 h8 i ins kbd li mark ol p picture pre q rp rt ruby s samp script select small span strike strong style " +
	"sub summary sup table tbody td template textarea tfoot th thead time tr tt ul var")

// A plainWalker walks through a document and collects its plain lines.
type plainWalker struct {
	source    []byte
	tags      []string // open elements
	outer     int      // of these, opened before the block; end tags in the block do not end them
	swallowed bool     // the rest is inside a tag or a comment that does not end
	lazies    int      // lines that method lazy has found
	until     int      // offset up to which GitHub may treat lines as HTML or a table
	lines     []string
}

// block reads a top-level block of the document.
func (w *plainWalker) block(n ast.Node) {
	switch n.(type) {
	case *ast.Paragraph, *ast.Heading:
		if !w.cutOff(n) {
			w.text(n)
		}
		return
	}
	if n.Kind() != ast.KindHTMLBlock {
		defer w.within()()
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			text := string(n.Lines().Value(w.source))
			if n.HasClosure() {
				text += string(n.ClosureLine.Value(w.source))
			}
			w.html(text)
		case *ast.RawHTML:
			w.inline(n)
		case *ast.Paragraph, *ast.TextBlock:
			w.lazy(n)
		}
		return ast.WalkContinue, nil
	})
}

// lazy looks for a continuation line of a list or a quote that begins with a tag but has no list or
// quote marker. GitHub starts a block of HTML there, up to the next blank line. CommonMark
// continues the paragraph.
func (w *plainWalker) lazy(n ast.Node) {
	for i := 1; i < n.Lines().Len(); i++ {
		if !startsTag().Match(w.source[n.Lines().At(i).Start:]) {
			continue
		}
		if w.lazies++; w.lazies > maxTags {
			w.swallowed = true
			return
		}
		block := w.upToBlank(n.Lines().At(i).Start)
		w.swallowed = w.swallowed || sanitize.Unclosed(block)
	}
}

// upToBlank returns the text from an offset up to the next blank line. Its lines do not count as
// plain lines.
func (w *plainWalker) upToBlank(start int) string {
	text, _, _ := bytes.Cut(w.source[start:], []byte("\n\n"))
	w.until = max(w.until, start+len(text))
	return string(text)
}

// startsTag matches a text that may begin with a tag.
var startsTag = text.Regexp(`^[ \t]*</?[A-Za-z]`)

// within protects the open elements against end tags until the returned function is called. In a
// list, a quote or a table browsers ignore end tags of elements outside.
func (w *plainWalker) within() func() {
	w.outer = len(w.tags)
	return func() { w.outer = 0 }
}

// tableAt returns the index of the first line of a table in a paragraph; len(lines) when there is
// no table.
func (w *plainWalker) tableAt(lines []gmtext.Segment) int {
	for i, l := range lines {
		if i > 0 && delimiterRow().Match(l.Value(w.source)) {
			return i - 1
		}
	}
	return len(lines)
}

// delimiterRow matches the second line of a table.
var delimiterRow = text.Regexp(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n?$`)

// cutOff reports whether a block directly follows fenced code of a list or a quote that has no
// closing fence. The author probably meant the block to be code.
func (w *plainWalker) cutOff(n ast.Node) bool {
	last := n.PreviousSibling()
	if last == nil || n.HasBlankPreviousLines() || n.Lines().Len() == 0 {
		return false
	}
	for last.LastChild() != nil && last.Type() == ast.TypeBlock {
		last = last.LastChild()
	}
	if last.Kind() != ast.KindFencedCodeBlock {
		return false
	}
	before := bytes.TrimSuffix(bytes.TrimRight(w.source[:n.Lines().At(0).Start], " \t"), []byte("\n"))
	f, ok := ParseFence(string(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])))
	return !ok || !f.Bare
}

// text processes a paragraph or a heading, and collects its plain lines.
func (w *plainWalker) text(n ast.Node) {
	var plain []gmtext.Segment
	lines := n.Lines().Sliced(0, n.Lines().Len())
	table := w.tableAt(lines)
	if table < len(lines) {
		defer w.within()()
	}
	if _, heading := n.(*ast.Heading); heading && table < len(lines) {
		w.upToBlank(lines[table].Start) // to GitHub the heading's underline is a table row
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.RawHTML:
			w.inline(c)
		case *ast.Text:
			if len(w.tags) == 0 && !w.swallowed {
				plain = append(plain, c.Segment)
			}
		}
	}
	linked := false
	for _, l := range lines[:table] {
		text := l.Value(w.source)
		start := l.Start + len(text) - len(bytes.TrimLeft(text, " \t"))
		for len(plain) > 0 && plain[0].Stop <= start {
			plain = plain[1:]
		}
		after := linked
		linked = linked || bytes.IndexByte(text, '[') >= 0 || bytes.Contains(text, []byte("$$"))
		if after || len(plain) == 0 || start < plain[0].Start || start < w.until {
			continue
		}
		begin := bytes.LastIndexByte(w.source[:l.Start], '\n') + 1
		line, _, _ := bytes.Cut(w.source[begin:], []byte("\n"))
		w.lines = append(w.lines, string(line))
	}
}

// inline processes inline HTML. CommonMark recognizes more declarations and comments than GitHub,
// which sees the tags inside them. So the rest of the document is skipped after a declaration or a
// comment that contains "<".
func (w *plainWalker) inline(n *ast.RawHTML) {
	text := string(n.Segments.Value(w.source))
	w.swallowed = w.swallowed || strings.HasPrefix(text, "<!") && strings.Contains(text[1:], "<")
	w.html(text)
}

// html processes HTML. After markup that browsers repair in different ways, the rest of the
// document is skipped.
func (w *plainWalker) html(s string) {
	w.swallowed = w.swallowed || sanitize.Unclosed(s)
	for z := html.NewTokenizer(strings.NewReader(s)); !w.swallowed; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		z.NextIsNotRawText() // GitHub shows raw text such as <title> as typed, with the tags in it
		tag, _ := z.TagName()
		name := string(tag)
		if !slices.Contains(elements, name) {
			continue
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			w.tags = append(w.tags, name)
			w.swallowed = len(w.tags) > maxTags
		case html.EndTagToken:
			last := len(w.tags) - 1
			if last < w.outer || w.tags[last] != name {
				w.swallowed = true
				return
			}
			w.tags = w.tags[:last]
		default:
		}
	}
}
