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
	Lang   string // the word behind the fence
	Text   string // the contents, with the last newline
	Marker string // the text of the comment directly before the block; empty: there is none
	Line   int    // of the first line of the contents
	at     int    // the offset of the contents in the page
}

// A Link is the destination of a link or an image, and its line.
type Link struct {
	To   string
	Line int
}

// A Page is one parsed Markdown page.
type Page struct {
	Blocks  []Block
	Links   []Link
	Anchors map[string]bool // the names of the headings, as GitHub makes them
}

var comment = regexp.MustCompile(`(?s)^<!--\s*(.*?)\s*-->\s*$`)

// Parse reads a page of GitHub Flavored Markdown.
func Parse(src []byte) Page {
	page := Page{Anchors: map[string]bool{}}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			page.Blocks = append(page.Blocks, block(n, src))
		case *ast.Heading:
			page.addAnchor(string(plain(n, src)))
		case *ast.Link:
			page.Links = append(page.Links, Link{string(n.Destination), lineOf(n, src)})
		case *ast.Image:
			page.Links = append(page.Links, Link{string(n.Destination), lineOf(n, src)})
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

// Replace returns the page with new contents of a block.
func (b Block) Replace(src []byte, contents string) []byte {
	return []byte(string(src[:b.at]) + contents + string(src[b.at+len(b.Text):]))
}

// addAnchor adds the anchor of a heading: lower case, without punctuation, hyphens for
// spaces, and a number after the second of a name.
func (p *Page) addAnchor(heading string) {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
	free := name
	for n := 1; p.Anchors[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	p.Anchors[free] = true
}

// plain returns the text below a node.
func plain(n ast.Node, src []byte) []byte {
	var b []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b = append(b, c.Value(src)...)
		case *ast.String:
			b = append(b, c.Value...)
		default:
			b = append(b, plain(c, src)...)
		}
	}
	return b
}

// lineOf returns the line of an inline node: that of its text, or else of its block.
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

// File returns the name of the file that a block shows; empty: it shows none.
func (b Block) File() string {
	if name, ok := strings.CutPrefix(b.Marker, "file "); ok {
		return name
	}
	if m := pathLine.FindStringSubmatch(b.Text); m != nil {
		return m[1]
	}
	return ""
}
