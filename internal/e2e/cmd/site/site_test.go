package main

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

const (
	root   = "../../../.."
	source = "https://github.example/octo/hello"
)

// A document is a page of the built site.
type document struct {
	ids   map[string]bool
	links []string // all addresses of the page
	loads []string // addresses that a browser loads without a click
}

// builtSite writes the site of this repository, without the playground's engine.
func builtSite(t *testing.T) (dir string, s *site) {
	t.Helper()
	s, err := newSite(os.DirFS(root), repositoryLinks{source, "abc"})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	if err := copyPlayground(root, filepath.Join(dir, "playground")); err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// documents parses the pages below a folder. The keys are paths relative to the folder.
func documents(t *testing.T, dir string) map[string]document {
	t.Helper()
	docs := map[string]document{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			defer f.Close()
			docs[name] = parse(t, name, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

var void = regexp.MustCompile(`^(area|base|br|col|hr|img|input|link|meta|source|wbr)$`)

// parse parses a page, and fails the test if tags are not balanced.
func parse(t *testing.T, name string, r io.Reader) document {
	t.Helper()
	d := document{ids: map[string]bool{}}
	var open []string
	z := html.NewTokenizer(r)
	for {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				t.Errorf("%s: it ends with open tags %q, %v", name, open, z.Err())
			}
			return d
		case html.StartTagToken:
			d.add(t, name, token)
			if !void.MatchString(token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> closes %q", name, token.Data, open)
			}
			open = open[:len(open)-1]
		default: // text or a comment
		}
	}
}

func (d *document) add(t *testing.T, name string, token html.Token) {
	t.Helper()
	for _, a := range token.Attr {
		switch a.Key {
		case "id":
			if d.ids[a.Val] {
				t.Errorf("%s: the id %s is there twice", name, a.Val)
			}
			d.ids[a.Val] = true
		case "href", "src":
			d.links = append(d.links, a.Val)
			if token.Data != "a" {
				d.loads = append(d.loads, a.Val)
			}
		case "style", "srcset", "poster", "action", "formaction", "data", "background", "ping":
			t.Errorf("%s: <%s> has the attribute %s", name, token.Data, a.Key)
		}
		if strings.HasPrefix(a.Key, "on") {
			t.Errorf("%s: <%s> has a script", name, token.Data)
		}
	}
}

// TestSite follows every link in the site of this repository, and checks that links lead to every
// page.
func TestSite(t *testing.T) {
	dir, s := builtSite(t)
	docs := documents(t, dir)
	next := map[string][]string{}
	for name, d := range docs {
		for _, link := range d.links {
			to, fragment, ok := resolve(t, name, link)
			if !ok {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, to)); err != nil || info.IsDir() {
				t.Errorf("%s: %s leads to nothing", name, link)
			}
			if fragment != "" && !docs[to].ids[fragment] {
				t.Errorf("%s: %s: there is no such heading", name, link)
			}
			next[name] = append(next[name], to)
		}
		for _, link := range d.loads {
			if u, err := url.Parse(link); err != nil || u.Host != "" || u.Scheme != "" && u.Scheme != "data" {
				t.Errorf("%s: it loads %s", name, link)
			}
		}
	}
	reached := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		if !reached[name] {
			reached[name] = true
			for _, to := range next[name] {
				walk(to)
			}
		}
	}
	walk("docs/index.html")
	want := []string{"playground/index.html"}
	for name := range s.pages {
		want = append(want, address(name))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(docs))); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, name := range want {
		if !reached[name] {
			t.Errorf("%s cannot be reached from the index", name)
		}
	}
	for _, css := range []string{"assets/look.css", "assets/docs.css", "playground/style.css"} {
		data, err := os.ReadFile(filepath.Join(dir, css))
		if err != nil || strings.Contains(string(data), "url(") || strings.Contains(string(data), "@import") {
			t.Errorf("%s loads something, or is missing: %v", css, err)
		}
	}
}

// resolve returns the file to which a link leads; false if the link leads to another host.
func resolve(t *testing.T, name, link string) (to, fragment string, ok bool) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	switch {
	case err != nil || u.Scheme != "":
		return "", "", false
	case strings.HasPrefix(u.Path, "/") || u.Host != "":
		t.Errorf("%s: %s depends on the path of the site", name, link)
		return "", "", false
	case u.Path == "":
		return name, u.Fragment, true
	}
	to = path.Join(path.Dir(name), u.Path)
	if strings.HasSuffix(u.Path, "/") {
		to = path.Join(to, "index.html")
	}
	return to, u.Fragment, true
}

// small returns a repository with the files that a site needs, and with some more files.
func small(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{
		"README.md":      {Data: []byte("# Home\n\n[docs](docs/README.md)\n")},
		"docs/README.md": {Data: []byte("# Index\n\n[a](a.md)\n")},
		"docs/a.md":      {Data: []byte("# A\n")},
		"main.go":        {Data: []byte("package main\n")},
	}
	for _, name := range append([]string{"page.html"}, assets...) {
		data, err := os.ReadFile(filepath.Join(root, "site", name))
		if err != nil {
			t.Fatal(err)
		}
		fsys["site/"+name] = &fstest.MapFile{Data: data}
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestMistakes builds repositories with one mistake each.
func TestMistakes(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"no such page", "docs/a.md", "# A\n\nSee [b](b.md).\n", "docs/a.md:3: b.md: no such file"},
		{"no such heading", "docs/a.md", "# A\n\n[x](README.md#x)\n", "docs/a.md:3: README.md#x: no such heading"},
		{"no such picture", "README.md", "# Home\n\n![x](docs/x.png)\n", "README.md:3: docs/x.png: no such file"},
		{"not in the index", "docs/b.md", "# B\n", "docs/README.md has no link to docs/b.md"},
		{"no title", "docs/a.md", "text\n\n## Part\n", "docs/a.md:1: the page does not begin with a title: write # and the title first"},
		{"a tag", "docs/a.md", "# A\n\n<!-- fine -->\n\ntext\n\n<details>\n", "docs/a.md:7: the site does not show HTML: write it in Markdown"},
		{"a tag in a line", "docs/a.md", "# A\n\ntext\n<b>x</b>\n", "docs/a.md:4: the site does not show HTML: write it in Markdown\ndocs/a.md:4: the site does not show HTML: write it in Markdown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newSite(small(t, map[string]string{tt.file: tt.text}), repositoryLinks{})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := newSite(small(t, nil), repositoryLinks{}); err != nil {
		t.Errorf("without a mistake: %v", err)
	}
}

const everything = `<!-- made by hand -->

# A

<!-- output -->
| k | v |
|--:|---|
| [docs/README.md](README.md) | [part](#the-part) |

[code](../main.go), [folder](../internal), [home](../README.md), [host](https://example.org/x.md), [index](.)

## The ` + "`part`" + `

` + "```mermaid\nflowchart LR\n  a --> b[\"<b>\"]\n```\n"

// TestRendered compares a page that has every kind of link and block with a golden file.
func TestRendered(t *testing.T) {
	for _, tt := range []struct {
		name  string
		links repositoryLinks
		want  []string
	}{
		{"with the repository", repositoryLinks{source, "abc"}, []string{
			`<a href="https://github.example/octo/hello/blob/abc/main.go">code</a>, <a href="https://github.example/octo/hello/tree/abc/internal">folder</a>`,
			`<a href="https://github.example/octo/hello/blob/abc/docs/a.md">The Markdown of this page</a>`,
		}},
		{"without the repository", repositoryLinks{}, []string{`<p>code, folder, <a`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := newSite(small(t, map[string]string{"docs/a.md": everything, "internal/x.go": ""}), tt.links)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := s.write(dir); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, "docs", "a.html"))
			if err != nil {
				t.Fatal(err)
			}
			page := string(data)
			for _, want := range append(tt.want, `<td align="right"><a href="../docs/">Index</a></td>`, `<a href="#the-part">part</a>`, `<h2 id="the-part">The <code>part</code></h2>`,
				`<a href="../">home</a>, <a href="https://example.org/x.md">host</a>, <a href="../docs/">index</a>`, `a --&gt; b[&quot;&lt;b&gt;&quot;]`, `<svg role="img" aria-label="Diagram: a to &lt;b&gt;"`, `>&lt;b&gt;</text>`) {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %s:\n%s", want, page)
				}
			}
			for _, not := range []string{"made by hand", "output", "omitted"} {
				if strings.Contains(page, not) {
					t.Errorf("the page contains %q", not)
				}
			}
			index, err := os.ReadFile(filepath.Join(dir, "assets", "search.json"))
			if want := `{"to":"docs/a.html#the-part","title":"A","heading":"The part","text":"flowchart LR\n  a --\u003e b[\"\u003cb\u003e\"]"}`; err != nil || !strings.Contains(string(index), want) {
				t.Errorf("the search lacks %s: %v\n%s", want, err, index)
			}
		})
	}
}
