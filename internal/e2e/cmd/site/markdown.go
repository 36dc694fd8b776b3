package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"

	"github.com/org/foreman-action/internal/docs"
)

// rewrite adapts a page to the site. Its links lead to pages of the site or to the repository,
// comments are removed, and diagrams are drawn. It returns the paths of the page's pictures.
func (s *site) rewrite(name string) (pictures []string, err error) {
	page := s.pages[name]
	for _, link := range page.Links {
		file, fragment, err := link.Target(name)
		if err != nil {
			return nil, err
		}
		if file == "" || link.To == "#"+fragment {
			continue
		}
		switch n := link.Node.(type) {
		case *ast.Image:
			pictures = append(pictures, file) // the relative path stays valid
		case *ast.Link:
			to, err := s.destination(name, file)
			if err != nil {
				return nil, err
			}
			if to == "" {
				unlink(n)
				continue
			}
			if target, ok := s.pages[file]; ok && strings.HasSuffix(string(docs.Text(n, page.Source)), ".md") {
				n.RemoveChildren(n)
				n.AppendChild(n, ast.NewString([]byte(target.Headings[0].Text))) // the site has no .md files
			}
			if fragment != "" {
				to += "#" + fragment
			}
			n.Destination = []byte(to)
		}
	}
	var comments []ast.Node
	var diagrams []*ast.FencedCodeBlock
	_ = ast.Walk(page.Root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch block := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			if entering {
				comments = append(comments, n)
			}
		case *ast.FencedCodeBlock:
			if entering && string(block.Language(page.Source)) == "mermaid" {
				diagrams = append(diagrams, block)
			}
		}
		return ast.WalkContinue, nil // the callback returns no error
	})
	for _, n := range comments {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	for _, n := range diagrams {
		if err := draw(n, page.Source); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return pictures, nil
}

// destination returns the address of a file, relative to a page; empty if the site cannot link to
// it.
func (s *site) destination(name, file string) (string, error) {
	for _, page := range []string{file, path.Join(file, "README.md")} {
		if _, ok := s.pages[page]; ok {
			return relative(name, page), nil
		}
	}
	info, err := fs.Stat(s.root, file)
	if err != nil || s.links.Address == "" {
		return "", err
	}
	if info.IsDir() {
		return s.links.to("tree", file), nil
	}
	return s.links.to("blob", file), nil
}

// unlink replaces a link by its content.
func unlink(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		n.Parent().InsertBefore(n.Parent(), n, c)
	}
	n.Parent().RemoveChild(n.Parent(), n)
}

// tags returns the lines of a page that contain HTML tags, except comments.
func tags(page docs.Page) []int {
	var lines []int
	_ = ast.Walk(page.Root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var start int
		var text []byte
		switch n := n.(type) {
		case *ast.HTMLBlock:
			start, text = n.Lines().At(0).Start, n.Lines().Value(page.Source)
		case *ast.RawHTML:
			start, text = n.Segments.At(0).Start, n.Segments.Value(page.Source)
		default:
			return ast.WalkContinue, nil
		}
		if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("<!--")) {
			lines = append(lines, 1+bytes.Count(page.Source[:start], []byte("\n")))
		}
		return ast.WalkContinue, nil
	})
	return lines
}

// render returns the HTML of a page. It uses no style attributes, because the site's Content
// Security Policy forbids them.
func render(page docs.Page) (template.HTML, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))))
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, page.Source, page.Root); err != nil {
		return "", err
	}
	// The renderer escapes text, so every tag in its output is its own. A wide table gets its own
	// scroll bar.
	scroll := strings.NewReplacer("<table>", `<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>`, "</table>", "</table></div>")
	return template.HTML(scroll.Replace(b.String())), nil
}

// A section is an entry of the search index: the text between two headings.
type section struct {
	To      string `json:"to"`      // from the root of the site
	Title   string `json:"title"`   // of the page
	Heading string `json:"heading"` // of the section; that of the first is the title
	Text    string `json:"text"`
}

// sections returns the sections of a page. to is the address of the page.
func sections(page docs.Page, to string) []section {
	list := []section{{To: to, Title: page.Headings[0].Text, Heading: page.Headings[0].Text}}
	for n := page.Root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			if id, _ := h.AttributeString("id"); h.Level > 1 {
				list = append(list, section{To: fmt.Sprintf("%s#%s", to, id), Title: list[0].Title, Heading: string(docs.Text(h, page.Source))})
			}
			continue
		}
		last := &list[len(list)-1]
		last.Text = strings.TrimSpace(last.Text + " " + strings.Join(texts(n, page.Source), " "))
	}
	return list
}

// texts returns the text of each block in a node. For a table, it returns the text of each cell.
func texts(n ast.Node, src []byte) []string {
	if isMarkup(n) {
		return nil
	}
	switch n.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return []string{string(n.Lines().Value(src))}
	case *ast.HTMLBlock:
		return nil
	}
	if c := n.FirstChild(); c == nil || c.Type() == ast.TypeInline {
		return []string{string(docs.Text(n, src))}
	}
	var list []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		list = append(list, texts(c, src)...)
	}
	return list
}
