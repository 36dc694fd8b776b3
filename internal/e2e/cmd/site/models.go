package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/foreman-action/internal/docs"
)

// The files for language models.
const (
	listFile  = "llms.txt"      // lists the pages, in the form of llmstxt.org
	wholeFile = "llms-full.txt" // has the Markdown of all pages
)

// list returns the list of the pages for language models.
func (s *site) list() string {
	var b strings.Builder
	first := s.pages[home]
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n[All pages as one text](%s)\n", first.Headings[0].Text, opening(first), wholeFile)
	line := func(name string) {
		fmt.Fprintf(&b, "- [%s](%s)", s.pages[name].Headings[0].Text, address(name))
		if text := opening(s.pages[name]); text != "" {
			b.WriteString(": " + text)
		}
		b.WriteString("\n")
	}
	for _, g := range s.groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		for _, name := range g.pages {
			line(name)
		}
	}
	if len(s.recipes) > 0 {
		b.WriteString("\n## Recipes\n\n")
	}
	for _, name := range s.order {
		if _, ok := s.recipes[name]; ok {
			line(name)
		}
	}
	return b.String()
}

// whole returns the Markdown of all pages in one text, each below a line with its path. Links are
// those of the repository.
func (s *site) whole() string {
	var b strings.Builder
	for _, name := range append([]string{home}, s.order...) {
		text := strings.TrimSpace(made.ReplaceAllString(string(s.pages[name].Source), ""))
		fmt.Fprintf(&b, "<!-- %s -->\n\n%s\n\n", name, text)
	}
	return b.String()
}

// made matches the comment of a generated page.
var made = regexp.MustCompile(`^<!-- Made by [^\n]* -->\n`)

// opening returns the first sentence of a page's first paragraph; "" without a paragraph.
func opening(page docs.Page) string {
	for n := page.Root.FirstChild(); n != nil; n = n.NextSibling() {
		if _, picture := n.FirstChild().(*ast.Image); picture || n.Kind() != ast.KindParagraph {
			continue
		}
		text := strings.TrimSpace(string(docs.Text(n, page.Source)))
		if sentence, _, ok := strings.Cut(text, ". "); ok {
			return sentence + "."
		}
		return strings.TrimSuffix(text, ":")
	}
	return ""
}
