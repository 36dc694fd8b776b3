package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// perThousand is how many of 1,000 lines of text may contain the same odd phrase.
const perThousand = 5

// A wordlist is the parsed form of testdata/words.txt. The file itself explains its format.
type wordlist struct {
	phrases  []phrase
	ceilings map[string]map[string]int // by place and name of a phrase
}

// A phrase is an expression that this project's text avoids.
type phrase struct {
	name    string
	never   bool // no line may contain it
	pattern *regexp.Regexp
	instead string
}

// A passage is a comment, a string in the code, a declared name or a page.
type passage struct {
	text string
	file string
	line int
	name bool // a declared name, split into words
}

func (p passage) at(offset int) string {
	return fmt.Sprintf("%s:%d", p.file, p.line+strings.Count(p.text[:offset], "\n"))
}

func parseWords(text string) (wordlist, error) {
	list := wordlist{ceilings: map[string]map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var err error
		switch words[0] {
		case "odd", "never":
			err = list.addPhrase(line)
		case "not-yet":
			err = list.addCeilings(words[1:])
		default:
			err = fmt.Errorf("want odd, never or not-yet, got %q", words[0])
		}
		if err != nil {
			return wordlist{}, fmt.Errorf("words.txt:%d: %w", i+1, err)
		}
	}
	return list, nil
}

func (l *wordlist) addPhrase(line string) error {
	head, instead, ok := strings.Cut(line, ": ")
	words := strings.Fields(head)
	if !ok || len(words) != 3 {
		return fmt.Errorf("want %s NAME REGEXP: INSTEAD, got %q", words[0], line)
	}
	re, err := regexp.Compile(`(?i)\b(` + words[2] + `)\b`)
	if err != nil {
		return err
	}
	l.phrases = append(l.phrases, phrase{words[1], words[0] == "never", re, instead})
	return nil
}

func (l wordlist) addCeilings(words []string) error {
	if len(words) < 2 || l.ceilings[words[0]] != nil {
		return fmt.Errorf("want not-yet PLACE NAME=COUNT... once for a place, got %q", words)
	}
	l.ceilings[words[0]] = map[string]int{}
	for _, word := range words[1:] {
		name, count, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(count)
		if err != nil || !slices.ContainsFunc(l.phrases, func(p phrase) bool { return p.name == name }) {
			return fmt.Errorf("want NAME=COUNT, got %q", word)
		}
		l.ceilings[words[0]][name] = n
	}
	return nil
}

// passages returns the text of a module by place, which is the folder of a package or a page. It
// contains every comment, the strings and names in code that is not a test, and every page.
func passages(m *module) map[string][]passage {
	out := map[string][]passage{}
	for _, f := range slices.Concat(m.files, m.nested) {
		add := func(n ast.Node, text string) {
			out[f.dir] = append(out[f.dir], passage{text: text, file: f.path, line: m.fset.Position(n.Pos()).Line})
		}
		for _, c := range f.ast.Comments {
			add(c, c.Text())
		}
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				// The error is ignored, because the parser has accepted the literal. Strings of
				// one word are keys and names.
				if text, _ := strconv.Unquote(lit.Value); strings.Contains(text, " ") {
					add(lit, text)
				}
			}
			for _, id := range declared(n) {
				words := camel.ReplaceAllString(id.Name, "$1 $2")
				out[f.dir] = append(out[f.dir], passage{words, f.path, m.fset.Position(id.Pos()).Line, true})
			}
			return true
		})
	}
	for name, text := range m.pages {
		out[name] = []passage{{text: string(text), file: name, line: 1}}
	}
	return out
}

// camel matches the end of a word within a name.
var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// declared returns the names that a node declares.
func declared(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	}
	return nil
}

// checkWords compares how often each place contains the phrases with the limits of words.txt.
func checkWords(m *module, tab table) []string {
	var out []string
	places := passages(m)
	for _, place := range slices.Sorted(maps.Keys(places)) {
		all := places[place]
		for _, p := range tab.words.phrases {
			found, limit := p.find(all), p.limit(all)
			ceiling, listed := tab.words.ceilings[place][p.name]
			switch {
			case listed && len(found) <= limit:
				out = append(out, fmt.Sprintf("%s: %s is within the limit: remove it from words.txt (-update does)", place, p.name))
			case len(found) > max(limit, ceiling):
				out = append(out, fmt.Sprintf("%s: %s %d times, more than %d, at %s; instead: %s",
					place, p.name, len(found), max(limit, ceiling), strings.Join(found, " "), p.instead))
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(tab.words.ceilings)) {
		if places[place] == nil {
			out = append(out, place+": is in words.txt, and there is no such place")
		}
	}
	return out
}

// find returns the positions of a phrase.
func (p phrase) find(all []passage) []string {
	var out []string
	for _, one := range all {
		if one.name && !p.never {
			continue
		}
		for _, at := range p.pattern.FindAllStringIndex(one.text, -1) {
			out = append(out, one.at(at[0]))
		}
	}
	return out
}

// limit returns how often a place may contain the phrase.
func (p phrase) limit(all []passage) int {
	if p.never {
		return 0
	}
	return (lines(all)*perThousand + 999) / 1000
}

func lines(all []passage) int {
	n := 0
	for _, p := range all {
		if p.name {
			continue
		}
		n += strings.Count(strings.TrimSuffix(p.text, "\n"), "\n") + 1
	}
	return n
}

// lowerWords returns the text of words.txt with each ceiling lowered to the count in m.
// Ceilings within the limit are left out; none is raised or added.
func lowerWords(text []byte, list wordlist, m *module) []byte {
	places := passages(m)
	var b bytes.Buffer
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "not-yet" {
			b.WriteString(line)
			continue
		}
		place, rest := words[1], ""
		for _, p := range list.phrases {
			all := places[place]
			if n := min(len(p.find(all)), list.ceilings[place][p.name]); n > p.limit(all) {
				rest += fmt.Sprintf(" %s=%d", p.name, n)
			}
		}
		if rest != "" {
			b.WriteString("not-yet " + place + rest + "\n")
		}
	}
	return b.Bytes()
}

// addPage reads a Markdown page.
func (m *module) addPage(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, path.Clean(name))
	if err != nil {
		return err
	}
	if m.pages == nil {
		m.pages = map[string][]byte{}
	}
	m.pages[name] = text
	return nil
}
