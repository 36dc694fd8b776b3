package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// maxParam is the most parameters of a function, apart from a leading context.
const maxParam = 4

// checkParams finds functions with too many parameters.
func checkParams(m *module, _ table) []string {
	var out []string
	for _, f := range m.production() {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := params(fn); n > maxParam {
				out = append(out, fmt.Sprintf("%s: %s has %d parameters, more than %d", m.at(fn), fn.Name.Name, n, maxParam))
			}
		}
	}
	return out
}

// params counts parameters but for a leading context or testing.T.
func params(fn *ast.FuncDecl) int {
	n := 0
	for i, field := range fn.Type.Params.List {
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		sel, ok := typ.(*ast.SelectorExpr)
		if i == 0 && ok && slices.Contains([]string{"Context", "T", "TB", "B", "F"}, sel.Sel.Name) {
			continue
		}
		n += max(len(field.Names), 1)
	}
	return n
}

// checkTests compares the number of lines of tests with that of other code.
func checkTests(m *module, tab table) []string {
	code, tests := 0, m.cases
	for _, f := range m.files {
		r := tab.rows[f.dir]
		switch {
		case f.test:
			tests += f.code
		case r == nil || !r.support:
			code += f.code
		}
	}
	if tests < code {
		return []string{fmt.Sprintf("%d lines of tests for %d lines of code", tests, code)}
	}
	return nil
}

// checkDocs finds packages and exported names without a comment.
func checkDocs(m *module, _ table) []string {
	var out []string
	packages := map[string]bool{}
	for _, f := range m.production() {
		packages[f.dir] = packages[f.dir] || f.ast.Doc != nil
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					out = append(out, fmt.Sprintf("%s: %s has no comment", m.at(d), d.Name.Name))
				}
			case *ast.GenDecl:
				for _, name := range undocumented(d) {
					out = append(out, fmt.Sprintf("%s: %s has no comment", m.at(name), name.Name))
				}
			}
		}
	}
	for dir, ok := range packages {
		if !ok {
			out = append(out, fmt.Sprintf("%s: the package has no comment", dir))
		}
	}
	slices.Sort(out)
	return out
}

// exportedReceiver reports whether a function has no receiver or a receiver of an exported type,
// so that other packages can call it.
func exportedReceiver(fn *ast.FuncDecl) bool {
	return fn.Recv == nil || receiver(fn).IsExported()
}

// undocumented returns the exported names of a declaration that have no comment. A comment on a
// group of constants or variables counts for all its names.
func undocumented(d *ast.GenDecl) []*ast.Ident {
	var out []*ast.Ident
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				out = append(out, s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// amounts returns the number of lines of code and tests of each package, for the log.
func amounts(m *module, tab table) string {
	byDir := map[string][2]int{}
	for _, f := range m.files {
		n := byDir[f.dir]
		if f.test {
			n[1] += f.code
		} else {
			n[0] += f.code
		}
		byDir[f.dir] = n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s %6s %6s\n", "package", "code", "tests")
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		kind := ""
		if r := tab.rows[dir]; r != nil && r.support {
			kind = "  (for tests)"
		}
		fmt.Fprintf(&b, "%-30s %6d %6d%s\n", dir, byDir[dir][0], byDir[dir][1], kind)
	}
	return b.String()
}
