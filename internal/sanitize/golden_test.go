package sanitize

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// functions maps each folder of testdata to the function that its cases test.
func functions(c golden) map[string]func(string) string {
	return map[string]func(string) string{
		"blocks":    followed,
		"code":      Code,
		"comment":   func(s string) string { return Comment(s, c.options()) },
		"cell":      func(s string) string { return Cell(s, c.number("max")) },
		"fence":     func(s string) string { return Fence(s, c.settings["lang"]) },
		"line":      Line,
		"log":       Log,
		"markdown":  Markdown,
		"marker":    func(s string) string { return strconv.FormatBool(HasMarker(s)) },
		"name":      Name,
		"rationale": Rationale,
		"trusted":   Trusted,
		"value":     Value,
	}
}

// parts maps each other folder to a function for a part of a text. ValueAt and SuppliedAt get the
// place after the part "before".
func parts(c golden) map[string]func(string) string {
	return map[string]func(string) string{
		"part":     func(s string) string { return NamePart(s, c.number("max")) },
		"place":    func(s string) string { return ValueAt(s, PlaceAt(c.part("before"))) },
		"supplied": func(s string) string { return SuppliedAt(s, PlaceAt(c.part("before"))) },
		"unclosed": func(s string) string { return strconv.FormatBool(Unclosed(s)) },
		"warning":  func(s string) string { return PlaceAt(s).Unescapable() },
	}
}

// followed marks the lines of a text that are content of a fence or part of an HTML block. It
// appends one more line in the first column and marks that, too.
func followed(s string) string {
	var out strings.Builder
	var b blocks
	for line := range strings.SplitSeq(s+"\nx", "\n") {
		mark := "        "
		if b.inFence(line) {
			mark = "(fence) "
		}
		b.next(line)
		if b.last.html {
			mark = "(html)  "
		}
		out.WriteString(mark + line + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestGolden runs every file in testdata. The folder names a function, which must turn the part
// "in" into the part "out". Invisible and control characters are written as ⟦200B⟧. Lines
// "key: value" before the parts are settings.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("got %d files, %v, want at least 40", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			t.Parallel()
			c := readGolden(t, file)
			f := functions(c)[filepath.Base(filepath.Dir(file))]
			if f == nil {
				f = parts(c)[filepath.Base(filepath.Dir(file))]
			}
			if f == nil {
				t.Fatal("no function of this name")
			}
			got := show(f(c.part("in")))
			if *update {
				c.write(t, file, got)
				return
			}
			if diff := cmp.Diff(show(c.part("out")), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// golden is one case of testdata.
type golden struct {
	archive  *txtar.Archive
	settings map[string]string
}

func readGolden(t *testing.T, file string) golden {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := golden{a, map[string]string{}}
	for line := range strings.Lines(string(a.Comment)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.Contains(key, " ") {
			c.settings[key] = value
		}
	}
	return c
}

// part returns the part with a name, without the line break at its end.
func (c golden) part(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return spelt16.ReplaceAllStringFunc(strings.TrimSuffix(string(f.Data), "\n"), func(s string) string {
				n, err := strconv.ParseInt(strings.Trim(s, "⟦⟧"), 16, 32)
				if err != nil {
					panic(err)
				}
				return string(rune(n))
			})
		}
	}
	return ""
}

func (c golden) write(t *testing.T, file, out string) {
	t.Helper()
	c.archive.Files = slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == "out" })
	c.archive.Files = append(c.archive.Files, txtar.File{Name: "out", Data: []byte(out + "\n")})
	if err := os.WriteFile(file, txtar.Format(c.archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c golden) number(key string) int {
	n, _ := strconv.Atoi(c.settings[key])
	return n
}

// options reads the settings "mentions" and "links", which list allowed names and hosts;
// "links: none" allows none.
func (c golden) options() Options {
	list := func(key string) func(string) bool {
		value, ok := c.settings[key]
		if !ok {
			return nil
		}
		return func(s string) bool { return slices.Contains(strings.Fields(value), s) }
	}
	return Options{AllowMention: list("mentions"), AllowLink: list("links")}
}

var spelt16 = regexp.MustCompile(`⟦[0-9A-F]{4,6}⟧`)

// show writes invisible characters as ⟦200B⟧.
func show(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != ' ' && (!unicode.IsPrint(r) || unicode.Is(ignorable, r)) {
			fmt.Fprintf(&b, "⟦%04X⟧", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
