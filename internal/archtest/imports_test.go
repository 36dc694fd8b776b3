package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// checkImports compares every import with the table.
func checkImports(m *module, tab table) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range m.files {
		r := tab.rows[f.dir]
		if r == nil {
			if !seen[f.dir] {
				out = append(out, fmt.Sprintf("%s: the package is not in arrows.txt", f.dir))
			}
			seen[f.dir] = true
			continue
		}
		seen[f.dir] = true
		for _, spec := range f.ast.Imports {
			if why := judge(m, tab, f, spec); why != "" {
				out = append(out, m.at(spec)+": "+why)
			}
		}
	}
	for path := range tab.rows {
		if !seen[path] {
			out = append(out, fmt.Sprintf("%s: is in arrows.txt, and there is no such package", path))
		}
	}
	slices.Sort(out)
	return out
}

// judge returns the problem of one import; empty: none.
func judge(m *module, tab table, f *source, spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return err.Error()
	}
	r := tab.rows[f.dir]
	if spec.Name != nil && spec.Name.Name == "." {
		return "imports " + path + " without a name"
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		if strings.HasPrefix(path, "testing") && !f.test && !r.support {
			return "production imports " + path
		}
		return ""
	}
	ours, ok := strings.CutPrefix(path, m.name+"/")
	if path == m.name {
		ours, ok = ".", true
	}
	if !ok {
		if allows(r.imports, path) || f.test && allows(tab.tests, path) {
			return ""
		}
		return "may not import " + path
	}
	to := tab.rows[ours]
	switch {
	case f.test || to == nil && allows(r.imports, ours):
		return ""
	case to != nil && to.support && !r.support:
		return "production imports " + ours + ", which is for tests"
	case !allows(r.imports, ours):
		return "may not import " + ours
	case !r.support && to.level > r.level:
		return fmt.Sprintf("level %d imports %s of level %d", r.level, ours, to.level)
	}
	return ""
}
