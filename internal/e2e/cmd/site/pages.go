package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/foreman-action/docs/recipes"
	"github.com/org/foreman-action/internal/docs"
)

// home is the first page of the site.
const home = "README.md"

// assets are files that every page uses. They are copied from site to assets in the built site.
var assets = []string{"look.css", "docs.css", "docs.js", "lunr.min.js", "lunr.LICENSE.txt"}

// A site contains the Markdown pages in the root of the repository and in docs, and the recipes.
type site struct {
	root   fs.FS // of the repository
	links  repositoryLinks
	layout *template.Template
	pages  map[string]docs.Page // by path in the repository
	// recipes are those of the pages that are made from a recipe, by the path of its file.
	recipes map[string]recipes.Recipe
	order   []string // of the pages in the navigation, after the first page
	groups  []group
}

// A group is a part of the navigation.
type group struct {
	Title string
	pages []string
}

// repositoryLinks makes links to files of the repository.
type repositoryLinks struct {
	Address string // of the repository; empty: unknown
	commit  string
}

// to returns the address of a file, or of a folder if view is "tree".
func (r repositoryLinks) to(view, file string) string {
	return r.Address + "/" + path.Join(view, r.commit, file)
}

// newSite reads the pages, and checks their links and the index.
func newSite(root fs.FS, links repositoryLinks) (*site, error) {
	s := &site{root: root, links: links, pages: map[string]docs.Page{}, recipes: map[string]recipes.Recipe{}}
	var err error
	if s.layout, err = template.ParseFS(root, "site/page.html"); err != nil {
		return nil, err
	}
	names, err := fs.Glob(root, "*.md")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		s.pages[name] = docs.Parse(src)
	}
	if err := s.addRecipes(); err != nil {
		return nil, err
	}
	for _, name := range []string{home, docs.Index} {
		if _, ok := s.pages[name]; !ok {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	s.navigate()
	return s, errors.Join(docs.CheckLinks(root, s.pages), docs.CheckIndex(s.pages), s.checkPages())
}

// recipeFolder is the folder of the recipes. Their pages have the paths of their rule files.
const recipeFolder = "docs/recipes"

// addRecipes adds a page for each recipe, if the repository has the page that lists them.
func (s *site) addRecipes() error {
	if _, ok := s.pages[recipeFolder+"/README.md"]; !ok {
		return nil
	}
	list, err := recipes.All()
	if err != nil {
		return err
	}
	for _, r := range list {
		name := path.Join(recipeFolder, r.Name+".yml")
		s.pages[name], s.recipes[name] = docs.Parse([]byte(r.Page())), r
	}
	return nil
}

// checkPages returns an error for each page that has no title or contains HTML tags.
func (s *site) checkPages() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		page := s.pages[name]
		if len(page.Headings) == 0 || page.Headings[0].Level != 1 {
			problems = append(problems, fmt.Errorf("%s:1: the page does not begin with a title: write # and the title first", name))
		}
		for _, tag := range tags(page) {
			problems = append(problems, fmt.Errorf("%s:%d: the site does not show HTML: write it in Markdown", name, tag))
		}
	}
	return errors.Join(problems...)
}

// navigate builds the navigation. Each section of the index becomes a group with its pages, and
// the pages in the root form the last group.
func (s *site) navigate() {
	listed := map[string]bool{home: true}
	add := func(title string) {
		if len(s.groups) > 0 && len(s.groups[len(s.groups)-1].pages) == 0 {
			s.groups = s.groups[:len(s.groups)-1] // the previous section has no pages
		}
		s.groups = append(s.groups, group{Title: title})
	}
	list := func(name string) {
		if _, ok := s.pages[name]; ok && !listed[name] {
			listed[name] = true
			g := &s.groups[len(s.groups)-1]
			g.pages = append(g.pages, name)
			s.order = append(s.order, name)
		}
	}
	index := s.pages[docs.Index]
	add("Start")
	list(docs.Index)
	_ = ast.Walk(index.Root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				add(string(docs.Text(n, index.Source)))
			}
		case *ast.Link:
			if file, _, err := (docs.Link{To: string(n.Destination)}).Target(docs.Index); err == nil {
				list(file)
			}
		}
		return ast.WalkContinue, nil // the callback returns no error
	})
	add("Project")
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		if !strings.Contains(name, "/") {
			list(name)
		}
	}
	// The recipes are too many for the navigation. The page that lists them links to them.
	s.order = append(s.order, slices.Sorted(maps.Keys(s.recipes))...)
}

// An entry is a page or a section in the navigation.
type entry struct {
	Title, To string
	Current   bool
	Sections  []entry // only for the current page
}

// A view is the data of site/page.html.
type view struct {
	Title      string
	Root       string // the relative address of the site's root; it ends with a slash
	Docs       string // the relative address of the index
	Body       template.HTML
	Groups     []shownGroup
	Repository string // address of the repository; empty: unknown
	Source     string // the address of the page's Markdown; empty: unknown
}

type shownGroup struct {
	Title   string
	Entries []entry
}

// write writes the pages, their pictures, the texts for language models, the index of the search,
// and the assets.
func (s *site) write(out string) error {
	var index []section
	for _, name := range append([]string{home}, s.order...) {
		page := s.pages[name]
		if r, ok := s.recipes[name]; ok {
			// Without the rules: people look for a recipe by the words of their wish.
			index = append(index, section{To: address(name), Title: r.Title, Heading: r.Title, Text: strings.TrimSpace(r.About + " " + strings.Join(r.Words, ", "))})
		} else {
			index = append(index, sections(page, address(name))...)
		}
		pictures, err := s.rewrite(name)
		if err != nil {
			return err
		}
		for _, picture := range pictures {
			if err := s.copyTo(out, picture, picture); err != nil {
				return err
			}
		}
		if err := s.writePage(out, name); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{listFile: s.list(), wholeFile: s.whole()} {
		if err := writeFile(out, name, []byte(text)); err != nil {
			return err
		}
	}
	data, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := writeFile(out, "assets/search.json", data); err != nil {
		return err
	}
	for _, name := range assets {
		if err := s.copyTo(out, path.Join("site", name), path.Join("assets", name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) writePage(out, name string) error {
	page := s.pages[name]
	body, err := render(page)
	if err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	v := view{
		Title: page.Headings[0].Text, Root: rootOf(name), Docs: relative(name, docs.Index),
		Body: body, Repository: s.links.Address,
	}
	if _, recipe := s.recipes[name]; !recipe && s.links.Address != "" {
		v.Source = s.links.to("blob", name)
	}
	for _, g := range s.groups {
		shown := shownGroup{Title: g.Title}
		for _, other := range g.pages {
			e := entry{Title: s.pages[other].Headings[0].Text, To: relative(name, other), Current: other == name}
			if e.Current {
				e.Sections = parts(page)
			}
			shown.Entries = append(shown.Entries, e)
		}
		v.Groups = append(v.Groups, shown)
	}
	var b strings.Builder
	if err := s.layout.Execute(&b, v); err != nil {
		return err
	}
	return writeFile(out, address(name), []byte(b.String()))
}

// parts returns the sections of a page.
func parts(page docs.Page) []entry {
	var list []entry
	for _, h := range page.Headings {
		if h.Level == 2 {
			list = append(list, entry{Title: h.Text, To: "#" + h.Anchor})
		}
	}
	return list
}

// address returns the path of a page in the site.
func address(name string) string {
	if path.Base(name) == "README.md" {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, path.Ext(name)) + ".html"
}

// relative returns the address of a page, relative to another page. It omits "index.html".
func relative(from, to string) string {
	return rootOf(from) + strings.TrimSuffix(address(to), "index.html")
}

// rootOf returns the address of the site's root, relative to a page.
func rootOf(name string) string {
	return cmp.Or(strings.Repeat("../", strings.Count(name, "/")), "./")
}

func (s *site) copyTo(out, from, to string) error {
	data, err := fs.ReadFile(s.root, from)
	if err != nil {
		return err
	}
	return writeFile(out, to, data)
}

// writeFile writes a file of the site, and the folders above it.
func writeFile(out, name string, data []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
