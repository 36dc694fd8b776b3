package archtest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A table is the parsed form of testdata/levels.txt, which explains its own format. The maps
// contain the right side of a line by each name of its left side.
type table struct {
	levels  []level // the lowest first
	tests   []string
	only    map[string][]string
	without map[string][]string
	modules map[string][]string
	clocks  []string
	linked  map[string][]string
}

// A level is a set of packages.
type level struct {
	patterns []string
	together bool // the packages may import each other
}

// readTable reads levels.txt from a folder.
func readTable(root fs.FS) (table, error) {
	text, err := fs.ReadFile(root, "levels.txt")
	if err != nil {
		return table{}, err
	}
	return parseTable(string(text))
}

func parseTable(text string) (table, error) {
	tab := table{only: map[string][]string{}, without: map[string][]string{}, modules: map[string][]string{}, linked: map[string][]string{}}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, number := lines[i], i+1
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			line += lines[i]
		}
		if err := tab.add(line); err != nil {
			return table{}, fmt.Errorf("levels.txt:%d: %w", number, err)
		}
	}
	return tab, nil
}

// add adds a line to the table.
func (tab *table) add(line string) error {
	head, tail, _ := strings.Cut(line, ":")
	left, right := strings.Fields(head), strings.Fields(tail)
	if len(left) == 0 || len(right) == 0 {
		return fmt.Errorf("want KEYWORD NAME...: NAME..., got %q", line)
	}
	var lists map[string][]string
	switch left[0] {
	case "level", "together":
		for _, pattern := range right {
			if slices.ContainsFunc(tab.levels, func(l level) bool { return slices.Contains(l.patterns, pattern) }) {
				return fmt.Errorf("%s is listed twice", pattern)
			}
		}
		tab.levels = append(tab.levels, level{right, left[0] == "together"})
	case "tests":
		tab.tests = append(tab.tests, right...)
	case "clock":
		tab.clocks = append(tab.clocks, right...)
	case "only":
		lists = tab.only
	case "without":
		lists = tab.without
	case "module":
		lists = tab.modules
	case "linked":
		lists = tab.linked
	default:
		return fmt.Errorf("unknown keyword %q", left[0])
	}
	if lists != nil {
		for _, name := range left[1:] {
			lists[name] = append(lists[name], right...)
		}
	}
	return nil
}

// A place is the place of a package in the table.
type place struct {
	level   int
	pattern string // the longest one that matches the package
	room    string // equal for the packages of a level that may import each other
}

// place returns the place of a package.
func (tab table) place(dir string) (place, bool) {
	found, longest := place{}, -1
	for i, level := range tab.levels {
		for _, pattern := range level.patterns {
			room, ok := match(pattern, dir)
			if length := len(strings.TrimRight(pattern, "/.*")); ok && length > longest {
				if level.together {
					room = "together"
				}
				found, longest = place{i, pattern, room}, length
			}
		}
	}
	return found, longest >= 0
}

// match reports whether a pattern matches a package. The room is the pattern, or the folder that
// stands for the "*" of the pattern.
func match(pattern, dir string) (room string, ok bool) {
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		rest, below := strings.CutPrefix(dir, base+"/")
		first, _, _ := strings.Cut(rest, "/")
		return base + "/" + first, below
	}
	base, below := strings.CutSuffix(pattern, "/...")
	return pattern, dir == base || below && within(base, dir)
}

// within reports whether a path is a folder or below it.
func within(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// forTests reports whether only tests may import a package.
func (tab table) forTests(dir string) bool { return matches(tab.tests, dir) }

// matches reports whether one of the patterns matches a package.
func matches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { _, ok := match(pattern, dir); return ok })
}

// module returns the listed module that contains a package of other authors.
func (tab table) module(path string) (string, bool) {
	for name := range tab.modules {
		if within(name, path) {
			return name, true
		}
	}
	return "", false
}
