package docs

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// A Block is one fenced block of a page.
type Block struct {
	Lang   string // the word after the fence
	Text   string // the contents, including the last newline
	Marker string // the text of the comment directly before the block; empty: none
	Line   int    // line number of the first line of the contents
	at     int    // offset of the contents in the page
}

// A Heading is the heading of a section.
type Heading struct {
	Level  int
	Text   string // without markup
	Anchor string // as GitHub generates it
}

// A Page is one parsed Markdown page.
type Page struct {
	Source   []byte
	Root     ast.Node // each heading has its anchor as the attribute id
	Blocks   []Block
	Links    []Link
	Headings []Heading
	Anchors  map[string]bool // the anchors of the headings
}

var comment = regexp.MustCompile(`(?s)^<!--\s*(.*?)\s*-->\s*$`)

// Parse parses a page of GitHub Flavored Markdown.
func Parse(src []byte) Page {
	page := Page{
		Source:  src,
		Root:    goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src)),
		Anchors: map[string]bool{},
	}
	_ = ast.Walk(page.Root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			page.Blocks = append(page.Blocks, block(n, src))
		case *ast.Heading:
			page.addHeading(n)
		case *ast.Link:
			page.Links = append(page.Links, Link{To: string(n.Destination), Line: lineOf(n, src), Node: n})
		case *ast.Image:
			page.Links = append(page.Links, Link{To: string(n.Destination), Line: lineOf(n, src), Node: n})
		}
		return ast.WalkContinue, nil // never an error
	})
	return page
}

func block(n *ast.FencedCodeBlock, src []byte) Block {
	b := Block{Lang: string(n.Language(src)), Text: string(n.Lines().Value(src))}
	if n.Lines().Len() > 0 {
		b.at = n.Lines().At(0).Start
	} else if n.Info != nil {
		b.at = n.Info.Segment.Stop + 1
	}
	b.Line = 1 + bytes.Count(src[:b.at], []byte("\n"))
	if html, ok := n.PreviousSibling().(*ast.HTMLBlock); ok {
		if m := comment.FindSubmatch(html.Lines().Value(src)); m != nil {
			b.Marker = string(m[1])
		}
	}
	return b
}

// Replace returns the page with new contents of the block.
func (b Block) Replace(src []byte, contents string) []byte {
	return []byte(string(src[:b.at]) + contents + string(src[b.at+len(b.Text):]))
}

// addHeading adds a heading with its anchor. The anchor is the text in lower case, without
// punctuation, with hyphens for spaces. From the second heading with the same text on, a number
// is appended.
func (p *Page) addHeading(n *ast.Heading) {
	heading := string(Text(n, p.Source))
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
	free := name
	for i := 1; p.Anchors[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	p.Anchors[free] = true
	p.Headings = append(p.Headings, Heading{n.Level, heading, free})
	n.SetAttributeString("id", []byte(free))
}

// Text returns the text of the inline nodes below a node, without markup.
func Text(n ast.Node, src []byte) []byte {
	var b []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b = append(b, c.Value(src)...)
			if c.SoftLineBreak() || c.HardLineBreak() {
				b = append(b, ' ')
			}
		case *ast.AutoLink:
			b = append(b, c.Label(src)...)
		case *ast.String:
			b = append(b, c.Value...)
		default:
			b = append(b, Text(c, src)...)
		}
	}
	return b
}

// lineOf returns the line of an inline node's text. If the node has no text, it returns the line
// of its block.
func lineOf(n ast.Node, src []byte) int {
	for c := n.FirstChild(); c != nil; c = c.FirstChild() {
		if t, ok := c.(*ast.Text); ok {
			return 1 + bytes.Count(src[:t.Segment.Start], []byte("\n"))
		}
	}
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			return 1 + bytes.Count(src[:n.Lines().At(0).Start], []byte("\n"))
		}
	}
	return 1
}

var pathLine = regexp.MustCompile(`^(?:#|//) ([\w./-]+\.\w+)\n`)

// File returns the name of the file that a block shows; empty: none.
func (b Block) File() string {
	if name, ok := strings.CutPrefix(b.Marker, "file "); ok {
		return name
	}
	if m := pathLine.FindStringSubmatch(b.Text); m != nil {
		return m[1]
	}
	return ""
}
