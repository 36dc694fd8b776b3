package evidence

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// The limits of the search for existing content.
const (
	// MaxFiles is the most files of a repository that are compared with an issue.
	MaxFiles = 5
	// MaxFileSize is the most bytes that a compared file may have.
	MaxFileSize = 1 << 20

	minLiteral, maxLiteral = 20, 400 // characters
	maxLiterals            = 20
)

// A Path is a file of a repository's tree.
type Path struct {
	Name string
	Size int64 // bytes
}

// existing searches the files of the repository for the texts that an issue asks to add.
func existing(f Facts) []Evidence {
	literals := Literals(f.Issue)
	var list []Evidence
	for _, file := range f.Files {
		content := file.Content
		if len(content) > MaxFileSize || strings.ContainsRune(content, 0) {
			continue
		}
		joined := strings.Join(strings.Fields(strings.ToLower(content)), " ")
		for _, literal := range literals {
			confidence, found := contains(joined, literal)
			if !found {
				continue
			}
			list = append(list, Evidence{
				Kind: ExistingContent, Confidence: confidence, Title: Title(file.Path), URL: file.URL,
				Reason: "Requested content already appears in repository: " + opening(literal),
			})
			break
		}
	}
	return list
}

// opening returns the beginning of a literal, at most 32 characters.
func opening(s string) string {
	const limit = 32
	s = text.Plain(strings.Join(strings.Fields(s), " "), maxLiteral)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit])) + "..."
}

// contains searches a text for a literal. content must be in lower case with single spaces. The
// level is High for an exact match, and Medium if nearly all words of the literal are close
// together.
func contains(content, literal string) (Level, bool) {
	want := strings.Join(strings.Fields(strings.ToLower(literal)), " ")
	if strings.Contains(content, want) {
		return High, true
	}
	// The second search: each window begins at the first word of the literal and has one and a half
	// times its length. At least 90 % of the words must be in one window.
	const enough, fewest, windows = 0.9, 5, 200
	terms := words(want)
	if len(terms) < fewest {
		return "", false
	}
	for tries, from := 0, 0; tries < windows; tries++ {
		at := strings.Index(content[from:], terms[0])
		if at < 0 {
			break
		}
		at += from
		from = at + len(terms[0])
		near := words(content[at:min(len(content), at+len(want)*3/2)])
		found := 0
		for _, t := range terms {
			if slices.Contains(near, t) {
				found++
			}
		}
		if float64(found) >= enough*float64(len(terms)) {
			return Medium, true
		}
	}
	return "", false
}

// changing are the words of titles that ask to change or remove existing text.
var changing = []string{
	"bug", "fix", "fixes", "broken", "remove", "delete", "drop", "rename", "replace", "typo", "wrong", "incorrect", "error", "crash",
	"fails", "failing", "deprecate", "deprecated", "refactor", "move", "update", "change", "improve",
}

var (
	fenced = text.Regexp("(?s)(?:^|\n)[ \t]*(?:```|~~~)[^\n]*\n(.*?)\n[ \t]*(?:```|~~~)")
	spans  = text.Regexp("`([^`\n]+)`")
	quotes = text.Regexp(`"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»`)
	pairs  = text.Regexp(`(?m)^[ \t]*[-*]?[ \t]*"?[A-Za-z][A-Za-z0-9 _-]{0,30}"?:[ \t]+(.+)$`)
)

// Literals returns the texts that an issue asks to add: texts in quotes, in code, in block quotes
// and after "key:". An issue about a bug or a change has none, because it quotes existing text.
func Literals(i triage.Issue) []string {
	title, body := i.Title, stripComments(clip(i.Body))
	terms := words(title)
	if HasLabel(i.Labels, "bug") || slices.ContainsFunc(changing, func(w string) bool { return slices.Contains(terms, w) }) {
		return nil
	}
	var list []string
	add := func(s string) {
		s = strings.Trim(strings.TrimSpace(s), `"'“”«»,;`+"`")
		n := utf8.RuneCountInString(s)
		if n >= minLiteral && n <= maxLiteral && len(list) < maxLiterals && !slices.Contains(list, s) && !strings.Contains(s, "://") {
			list = append(list, s)
		}
	}
	for _, s := range []string{title, body} {
		for _, re := range []*regexp.Regexp{fenced(), spans(), quotes(), pairs()} {
			for _, m := range re.FindAllStringSubmatch(s, maxLiterals) {
				for _, part := range m[1:] {
					add(part)
				}
				if re == fenced() {
					for line := range strings.Lines(m[1]) {
						add(line)
					}
				}
			}
		}
	}
	for _, q := range blockQuotes(body) {
		add(q)
	}
	return list
}

// blockQuotes returns the block quotes of a body, each joined to one line.
func blockQuotes(body string) []string {
	var list []string
	open := false
	for line := range strings.Lines(body) {
		quoted, ok := strings.CutPrefix(strings.TrimSpace(line), ">")
		switch {
		case !ok:
			open = false
		case open:
			list[len(list)-1] += " " + strings.TrimSpace(quoted)
		default:
			open = true
			list = append(list, strings.TrimSpace(quoted))
		}
	}
	return list
}

// stripComments removes HTML comments, such as the hints of templates.
func stripComments(body string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(body, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, body, found = strings.Cut(after, "-->"); !found {
			return b.String()
		}
	}
}

// Visible returns the part of a body that GitHub shows, clipped.
func Visible(body string) string { return strings.TrimSpace(stripComments(clip(body))) }

// named matches texts that look like the path of a file.
var named = text.Regexp("[A-Za-z0-9_.@-]+(?:/[A-Za-z0-9_.@-]+)*")

// NamedPaths returns the files of a tree that a text names, in the order of the text: by their
// path, or by a name that only one of them has.
func NamedPaths(s string, tree []Path) []string {
	byPath, byName := map[string]bool{}, map[string][]string{}
	for _, p := range tree {
		byPath[p.Name] = true
		byName[path.Base(p.Name)] = append(byName[path.Base(p.Name)], p.Name)
	}
	const most = 10_000
	var list []string
	for _, word := range named().FindAllString(clip(s), most) {
		word = strings.TrimPrefix(strings.TrimRight(word, ".-"), "./")
		found := ""
		switch {
		case byPath[word]:
			found = word
		case strings.Contains(word, ".") && len(byName[word]) == 1:
			found = byName[word][0]
		}
		if found != "" && !slices.Contains(list, found) {
			list = append(list, found)
		}
	}
	return list
}

// Matching returns the files of a tree whose names contain terms of a title, the best match first.
func Matching(title string, tree []Path) []string {
	type match struct {
		name  string
		terms int
	}
	terms := Terms(title)
	var list []match
	for _, p := range tree {
		if Generated(p.Name) {
			continue
		}
		base := words(strings.TrimSuffix(path.Base(p.Name), path.Ext(p.Name)))
		m := match{name: p.Name}
		for _, t := range terms {
			if slices.ContainsFunc(base, func(w string) bool { return singular(w) == singular(t) }) {
				m.terms++
			}
		}
		if m.terms > 0 {
			list = append(list, m)
		}
	}
	order.Stable(list, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.terms, a.terms), cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/")), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, m := range list {
		names = append(names, m.name)
	}
	return names
}

// singular removes a plural ending, so that "quotes" and "quote" are equal.
func singular(w string) string {
	const short = 3
	if len(w) > short && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// Generated reports whether a tool writes a file, judged by its name.
func Generated(name string) bool {
	for _, dir := range []string{"node_modules", "vendor", "dist", "build", "third_party", ".git"} {
		if strings.HasPrefix(name, dir+"/") || strings.Contains(name, "/"+dir+"/") {
			return true
		}
	}
	for _, end := range []string{".lock", "-lock.json", "-lock.yaml", ".sum", ".min.js", ".min.css", ".pb.go", ".map", ".snap"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// binary are the endings of files that have no text.
var binary = []string{
	".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".gz", ".tar", ".jar", ".wasm", ".exe", ".so", ".dll", ".woff", ".woff2", ".ttf", ".mp4", ".mp3",
}

// Compared returns the files of a tree that an issue is compared with: those that it names,
// then those whose names match its title. There are none when it has no [Literals].
func Compared(i triage.Issue, tree []Path) []string {
	if len(Literals(i)) == 0 {
		return nil
	}
	size := map[string]int64{}
	for _, p := range tree {
		size[p.Name] = p.Size
	}
	var list []string
	for _, name := range append(NamedPaths(i.Title+"\n"+i.Body, tree), Matching(i.Title, tree)...) {
		if len(list) < MaxFiles && size[name] <= MaxFileSize && !slices.Contains(binary, strings.ToLower(path.Ext(name))) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
