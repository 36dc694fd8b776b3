package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checkImports compares every import with the table.
func checkImports(m *module, tab table) []string {
	var out []string
	for _, f := range m.files {
		if _, ok := tab.place(f.dir); !ok && !tab.forTests(f.dir) {
			out = append(out, f.dir+": no level of levels.txt contains the package")
			continue
		}
		for _, spec := range f.ast.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				out = append(out, m.at(spec)+": imports a package without a name")
			}
			if why := judge(m, tab, f, imported(spec.Path.Value)); why != "" {
				out = append(out, m.at(spec)+": "+why)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// imported returns the path of an import. The parser has accepted the literal.
func imported(literal string) string {
	path, _ := strconv.Unquote(literal)
	return path
}

// own returns the folder of a package of the module.
func (m *module) own(path string) (dir string, ok bool) {
	if path == m.name {
		return ".", true
	}
	return strings.CutPrefix(path, m.name+"/")
}

// judge returns the problem of one import; empty: none.
func judge(m *module, tab table, f *source, path string) string {
	forTests := f.test || tab.forTests(f.dir)
	to, ok := m.own(path)
	switch first, _, _ := strings.Cut(path, "/"); {
	case ok:
		return judgeOwn(tab, f, to)
	case !strings.Contains(first, "."):
		if strings.HasPrefix(path, "testing") && !forTests {
			return "production imports " + path
		}
		return ""
	}
	name, listed := tab.module(path)
	if listed && (forTests || slices.ContainsFunc(tab.modules[name], func(folder string) bool { return within(folder, f.dir) })) {
		return ""
	}
	return "may not import " + path
}

// judgeOwn returns the problem of an import of a package of the module; empty: none.
func judgeOwn(tab table, f *source, to string) string {
	if f.test {
		return ""
	}
	for folder, others := range tab.only {
		allowed := func(other string) bool { return within(other, f.dir) }
		if within(folder, to) && !allowed(folder) && !slices.ContainsFunc(others, allowed) {
			return "is outside of the folders that may import " + folder
		}
	}
	if tab.forTests(f.dir) {
		return ""
	}
	if tab.forTests(to) {
		return "production imports " + to + ", which is for tests"
	}
	here, _ := tab.place(f.dir)
	there, ok := tab.place(to)
	if ok && (there.level > here.level || there.level == here.level && there.room != here.room) {
		return fmt.Sprintf("imports %s, which is not on a lower level", to)
	}
	return ""
}

// checkPrograms finds packages and modules that a program may not contain.
func checkPrograms(m *module, tab table) []string {
	imports := map[string][]string{}
	for _, f := range m.production() {
		for _, spec := range f.ast.Imports {
			path := imported(spec.Path.Value)
			if dir, ok := m.own(path); ok {
				path = dir
			} else if name, ok := tab.module(path); ok {
				path = name
			}
			imports[f.dir] = append(imports[f.dir], path)
		}
	}
	var out []string
	for program, patterns := range tab.without {
		if imports[program] == nil {
			out = append(out, "levels.txt: there is no program "+program)
		}
		contained, next := map[string]bool{}, []string{program}
		for len(next) > 0 {
			path := next[0]
			if next = next[1:]; !contained[path] {
				contained[path] = true
				next = append(next, imports[path]...)
			}
		}
		for path := range contained {
			if matches(patterns, path) {
				out = append(out, program+": may not contain "+path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkTable finds names in the table that match no package and no import.
func checkTable(m *module, tab table) []string {
	used := map[string]bool{} // patterns of levels; modules with a folder that imports them
	dirs := map[string]bool{}
	for _, f := range m.files {
		dirs[f.dir] = true
		if p, ok := tab.place(f.dir); ok && !tab.forTests(f.dir) {
			used[p.pattern] = true
		}
		for _, spec := range f.ast.Imports {
			name, _ := tab.module(imported(spec.Path.Value))
			for _, folder := range tab.modules[name] {
				if folder == "tests" && (f.test || tab.forTests(f.dir)) || !f.test && within(folder, f.dir) {
					used[name+" in "+folder] = true
				}
			}
		}
	}
	var missing []string
	for _, level := range tab.levels {
		for _, pattern := range level.patterns {
			if !used[pattern] {
				missing = append(missing, pattern)
			}
		}
	}
	for name, folders := range tab.modules {
		for _, folder := range folders {
			if entry := name + " in " + folder; !used[entry] {
				missing = append(missing, entry)
			}
		}
	}
	patterns := slices.Clone(tab.tests)
	for folder, others := range tab.only {
		for _, name := range append(others, folder) {
			patterns = append(patterns, name+"/...")
		}
	}
	for _, list := range tab.without {
		patterns = append(patterns, list...)
	}
	for _, pattern := range patterns {
		_, listed := tab.modules[pattern]
		if !listed && !slices.ContainsFunc(slices.Collect(maps.Keys(dirs)), func(dir string) bool { return matches([]string{pattern}, dir) }) {
			missing = append(missing, pattern)
		}
	}
	var out []string
	for _, name := range missing {
		out = append(out, "levels.txt: there is no "+name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
