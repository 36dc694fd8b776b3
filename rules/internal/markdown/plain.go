package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"github.com/org/foreman-action/internal/sanitize"
)

// PlainLines returns the lines of a comment that people see as its author's own text: those
// of the paragraphs and headings of the document itself, not in quotes, lists, tables, code,
// math, HTML comments or HTML elements. They are whole, as they were typed. It follows
// CommonMark; where people would read a text in more than one way, it returns fewer
// lines: none that comes in its paragraph after a "[", which may begin a link, a definition or
// a footnote, or after "$$", and none after HTML that is not well nested. A text with more than
// maxPrefix signs of quotes and lists before a line has none, nor has one with form feeds or
// vertical tabs, which count as space to some.
func PlainLines(comment string) []string {
	if strings.ContainsAny(comment, "\f\v") {
		return nil
	}
	comment = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(comment)
	comment = blankLines.ReplaceAllString(comment, "\n\n") // each costs time in every open list
	comment = tabInTag.ReplaceAllString(comment, "$1 ")    // where the parser expects a space
	for line := range strings.Lines(comment) {
		if len(line)-len(strings.TrimLeft(line, " \t>-+*0123456789.)")) > maxPrefix {
			return nil
		}
	}
	source := []byte(comment)
	// Other inline markup does not matter here, and costs time.
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

// maxPrefix is how many bytes of signs before a line are read: the time that a parser needs
// grows with the square of the depth.
const maxPrefix = 64

// blankLines matches blank lines.
var blankLines = regexp.MustCompile(`\n(?:[ \t]*\n)+`)

// tabInTag matches a tab after the name of a tag.
var tabInTag = regexp.MustCompile(`(</?[A-Za-z][A-Za-z0-9]*)\t`)

// maxTags is how many open tags are kept, and how many lines are looked at that may begin a
// block of HTML.
const maxTags = 16

// elements are those of HTML that have an end, and that GitHub shows or browsers hide, and select,
// in which end tags are ignored. Others stay without effect: GitHub drops their tags.
var elements = strings.Fields("a abbr b bdo blockquote caption cite code dd del details dfn div dl dt em figcaption figure " +
	"h1 h2 h3 h4 h5 h6 h7 h8 i ins kbd li mark ol p picture pre q rp rt ruby s samp script select small span strike strong style " +
	"sub summary sup table tbody td template textarea tfoot th thead time tr tt ul var")

// A plainWalker goes through a document.
type plainWalker struct {
	source    []byte
	tags      []string // open elements
	outer     int      // how many of these were open before the block, where its end tags do not end them
	swallowed bool     // by a tag or a comment that does not end
	lazies    int      // lines that lazy has found
	until     int      // offset up to which GitHub may take lines for HTML or a table
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

// lazy looks for a line of a list or a quote without their signs that begins with a tag. GitHub
// begins a block of HTML with it, up to the next blank line; CommonMark continues the
// paragraph.
func (w *plainWalker) lazy(n ast.Node) {
	for i := 1; i < n.Lines().Len(); i++ {
		if !startsTag.Match(w.source[n.Lines().At(i).Start:]) {
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

// upToBlank returns the text from an offset up to the next blank line, whose lines are none of
// the comment's own.
func (w *plainWalker) upToBlank(start int) string {
	text, _, _ := bytes.Cut(w.source[start:], []byte("\n\n"))
	w.until = max(w.until, start+len(text))
	return string(text)
}

// startsTag matches a text that may begin with a tag.
var startsTag = regexp.MustCompile(`^[ \t]*</?[A-Za-z]`)

// within lets no end tag end an element that is open, until the function that it returns is
// called: in a list, a quote or a table browsers ignore such a tag.
func (w *plainWalker) within() func() {
	w.outer = len(w.tags)
	return func() { w.outer = 0 }
}

// tableAt returns the number of the first line of a table in a paragraph; all of its lines when
// there is none.
func (w *plainWalker) tableAt(lines []gmtext.Segment) int {
	for i, l := range lines {
		if i > 0 && delimiterRow.Match(l.Value(w.source)) {
			return i - 1
		}
	}
	return len(lines)
}

// delimiterRow matches the second line of a table.
var delimiterRow = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n?$`)

// cutOff reports whether a block ends fenced code of a list or a quote that has no end of its
// own: its author took it for code.
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

// text takes in a paragraph or a heading, and keeps its plain lines.
func (w *plainWalker) text(n ast.Node) {
	var plain []gmtext.Segment
	lines := n.Lines().Sliced(0, n.Lines().Len())
	table := w.tableAt(lines)
	if table < len(lines) {
		defer w.within()()
	}
	if _, heading := n.(*ast.Heading); heading && table < len(lines) {
		w.upToBlank(lines[table].Start) // what would underline a heading is a row to GitHub
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

// inline takes in HTML within a line. GitHub takes fewer declarations and comments for such
// than CommonMark does today, and then sees the tags in them.
func (w *plainWalker) inline(n *ast.RawHTML) {
	text := string(n.Segments.Value(w.source))
	w.swallowed = w.swallowed || strings.HasPrefix(text, "<!") && strings.Contains(text[1:], "<")
	w.html(text)
}

// html takes in HTML. Markup that browsers repair differently swallows the rest.
func (w *plainWalker) html(s string) {
	w.swallowed = w.swallowed || sanitize.Unclosed(s)
	for z := html.NewTokenizer(strings.NewReader(s)); !w.swallowed; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		z.NextIsNotRawText() // GitHub shows the tags of raw text as typed, and so sees those within it
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
