package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Index is the page that links to every other page of the documentation.
const Index = "docs/README.md"

// A Link is a link or an image of a page.
type Link struct {
	To   string // the target as written on the page
	Line int
	Node ast.Node // an *ast.Link or *ast.Image
}

// Target returns the file of the repository to which a link of a page leads, by its path from the
// root, and the fragment. If the link leads to another host, file is empty.
func (l Link) Target(page string) (file, fragment string, err error) {
	u, err := url.Parse(l.To)
	switch {
	case err != nil:
		return "", "", err
	case u.Scheme != "" || u.Host != "":
		return "", "", nil
	case u.Path == "":
		return page, u.Fragment, nil
	}
	file = path.Join(path.Dir(page), u.Path)
	if !fs.ValidPath(file) {
		return "", "", fmt.Errorf("%s leads out of the repository", l.To)
	}
	return file, u.Fragment, nil
}

// CheckLinks returns an error for each link of the pages to a file or a heading that does not
// exist. The error names the page and the line. The keys of pages are paths from the root.
func CheckLinks(root fs.FS, pages map[string]Page) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, link := range pages[name].Links {
			if err := check(root, pages, name, link); err != nil {
				problems = append(problems, fmt.Errorf("%s:%d: %w", name, link.Line, err))
			}
		}
	}
	return errors.Join(problems...)
}

func check(root fs.FS, pages map[string]Page, name string, link Link) error {
	file, fragment, err := link.Target(name)
	if err != nil || file == "" {
		return err
	}
	if _, err := fs.Stat(root, file); err != nil {
		return fmt.Errorf("%s: no such file", link.To)
	}
	if fragment != "" && !pages[file].Anchors[fragment] {
		return fmt.Errorf("%s: no such heading", link.To)
	}
	return nil
}

// CheckIndex returns an error for each Markdown page below docs to which the index does not link.
func CheckIndex(pages map[string]Page) error {
	linked := map[string]bool{Index: true}
	for _, link := range pages[Index].Links {
		if file, _, err := link.Target(Index); err == nil {
			linked[file] = true
		}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if strings.HasPrefix(name, "docs/") && path.Ext(name) == ".md" && !linked[name] {
			problems = append(problems, fmt.Errorf("%s has no link to %s", Index, name))
		}
	}
	return errors.Join(problems...)
}
