package archtest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// A row is the table's entry for one package.
type row struct {
	path    string
	level   int
	support bool // imported by tests only
	job     string
	imports []string
	linked  []string // variables that the linker sets
}

// A table is the parsed form of testdata/arrows.txt, rooms.txt and words.txt. arrows.txt explains
// its own format.
type table struct {
	rows  map[string]*row
	tests []string // packages that every test file may import
	rooms rooms
	words wordlist
}

// readTable reads arrows.txt, rooms.txt and words.txt from a folder.
func readTable(root fs.FS) (table, error) {
	text, err := fs.ReadFile(root, "arrows.txt")
	if err != nil {
		return table{}, err
	}
	tab, err := parseTable(string(text))
	if err != nil {
		return table{}, err
	}
	if text, err = fs.ReadFile(root, "rooms.txt"); err != nil {
		return table{}, err
	}
	if tab.rooms, err = parseRooms(string(text)); err != nil {
		return table{}, err
	}
	if text, err = fs.ReadFile(root, "words.txt"); errors.Is(err, fs.ErrNotExist) {
		return tab, nil // a small module that tests another check
	} else if err != nil {
		return table{}, err
	}
	tab.words, err = parseWords(string(text))
	return tab, err
}

func parseTable(text string) (table, error) {
	tab := table{rows: map[string]*row{}}
	var imports *[]string
	var last *row
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch {
		case words[0] == ">" && imports != nil:
			*imports = append(*imports, words[1:]...)
		case words[0] == "linked" && last != nil:
			last.linked = append(last.linked, words[1:]...)
		case line == "tests":
			imports, last = &tab.tests, nil
		default:
			r, err := parseRow(line)
			if err != nil {
				return table{}, fmt.Errorf("arrows.txt:%d: %w", i+1, err)
			}
			if tab.rows[r.path] != nil {
				return table{}, fmt.Errorf("arrows.txt:%d: %s is listed twice", i+1, r.path)
			}
			tab.rows[r.path] = r
			imports, last = &r.imports, r
		}
	}
	return tab, nil
}

func parseRow(line string) (*row, error) {
	head, job, ok := strings.Cut(line, ": ")
	words := strings.Fields(head)
	if !ok || job == "" || len(words) != 2 {
		return nil, fmt.Errorf("want LEVEL PATH: JOB, got %q", line)
	}
	r := &row{path: words[1], job: job, support: words[0] == "test"}
	if r.support {
		return r, nil
	}
	var err error
	if r.level, err = strconv.Atoi(words[0]); err != nil {
		return nil, fmt.Errorf("level %q is no number", words[0])
	}
	return r, nil
}

// allows reports whether a list of imports covers a path.
func allows(list []string, path string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		base, below := strings.CutSuffix(entry, "/...")
		return path == base || below && strings.HasPrefix(path, base+"/")
	})
}
