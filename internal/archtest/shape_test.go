package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// The limits of files and functions, in lines, and of parameters behind a context.
const (
	maxFile  = 400
	p90File  = 250
	maxFunc  = 70
	p90Func  = 35
	maxParam = 4
)

// checkSize finds files, functions and lists of parameters beyond the limits.
func checkSize(m *module, _ table) []string {
	var out []string
	for _, f := range m.files {
		if f.lines > maxFile {
			out = append(out, fmt.Sprintf("%s: has %d lines, more than %d", f.path, f.lines, maxFile))
		}
		if f.test {
			continue
		}
		for _, fn := range functions(f) {
			if n := m.length(fn); n > maxFunc {
				out = append(out, fmt.Sprintf("%s: %s has %d lines, more than %d", m.at(fn), fn.Name.Name, n, maxFunc))
			}
			if n := params(fn); n > maxParam {
				out = append(out, fmt.Sprintf("%s: %s has %d parameters, more than %d", m.at(fn), fn.Name.Name, n, maxParam))
			}
		}
	}
	return out
}

func functions(f *source) []*ast.FuncDecl {
	var list []*ast.FuncDecl
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			list = append(list, fn)
		}
	}
	return list
}

// length counts the lines of a function from "func" to its last brace.
func (m *module) length(fn *ast.FuncDecl) int {
	return m.fset.Position(fn.End()).Line - m.fset.Position(fn.Pos()).Line + 1
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

// checkSpread compares the 90th percentiles of production code with the limits, and
// the amount of tests with that of the code.
func checkSpread(m *module, tab table) []string {
	var files, funcs []int
	code, tests := 0, m.cases
	for _, f := range m.files {
		r := tab.rows[f.dir]
		switch support := r != nil && r.support; {
		case f.test:
			tests += f.code
			continue
		case !support:
			code += f.code
		}
		files = append(files, f.lines)
		for _, fn := range functions(f) {
			funcs = append(funcs, m.length(fn))
		}
	}
	var out []string
	if n := p90(files); n > p90File {
		out = append(out, fmt.Sprintf("files: the 90th percentile is %d lines, more than %d", n, p90File))
	}
	if n := p90(funcs); n > p90Func {
		out = append(out, fmt.Sprintf("functions: the 90th percentile is %d lines, more than %d", n, p90Func))
	}
	if tests < code {
		out = append(out, fmt.Sprintf("tests: %d lines for %d lines of code", tests, code))
	}
	return out
}

func p90(list []int) int {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)*9+9)/10-1]
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

// exportedReceiver reports whether a function is reachable from outside: it has no
// receiver or one of an exported type.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	x := fn.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	switch g := x.(type) {
	case *ast.IndexExpr:
		x = g.X
	case *ast.IndexListExpr:
		x = g.X
	}
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}

// undocumented returns the exported names of a declaration that have no comment of
// their own; the comment of a group of constants or variables is enough.
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

// figures tells the spread of the code, for the log.
func figures(m *module, tab table) string {
	byDir := map[string][2]int{}
	var files, funcs []int
	for _, f := range m.files {
		n := byDir[f.dir]
		if f.test {
			n[1] += f.code
		} else {
			n[0] += f.code
			files = append(files, f.lines)
			for _, fn := range functions(f) {
				funcs = append(funcs, m.length(fn))
			}
		}
		byDir[f.dir] = n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "file p90 %d (limit %d), function p90 %d (limit %d)\n", p90(files), p90File, p90(funcs), p90Func)
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
