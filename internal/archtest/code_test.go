package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// outside returns the names that access the process's arguments, environment or streams, by
// package.
func outside() map[string][]string {
	return map[string][]string{
		"os":  {"Args", "Environ", "Exit", "ExpandEnv", "Getenv", "LookupEnv", "Setenv", "Stderr", "Stdin", "Stdout", "Unsetenv"},
		"fmt": {"Print", "Printf", "Println"},
		"log": {"Default", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Print", "Printf", "Println"},
	}
}

// checkOutside finds uses of the process's arguments, environment and streams outside of the root
// package and of a program's main.go.
func checkOutside(m *module, _ table) []string {
	var out []string
	for _, f := range m.production() {
		if f.dir == "." || path.Dir(f.dir) == "cmd" && path.Base(f.path) == "main.go" {
			continue
		}
		out = append(out, uses(m, f, outside())...)
	}
	return out
}

// uses returns the uses of names in a file. The names are listed by package.
func uses(m *module, f *source, names map[string][]string) []string {
	var out []string
	imports := importNames(f)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(names[imports[x.Name]], sel.Sel.Name) {
			out = append(out, fmt.Sprintf("%s: uses %s.%s", m.at(sel), imports[x.Name], sel.Sel.Name))
		}
		return true
	})
	return out
}

// checkClock finds uses of the machine's clock in files that are not listed with the word "clock",
// and listed files that do not use it.
func checkClock(m *module, tab table) []string {
	var out []string
	unused := slices.Sorted(slices.Values(tab.clocks))
	for _, f := range m.production() {
		found := uses(m, f, map[string][]string{"time": {"Now", "Since", "Until"}})
		switch {
		case tab.forTests(f.dir):
		case !slices.Contains(tab.clocks, f.path):
			out = append(out, found...)
		case len(found) > 0:
			unused = slices.DeleteFunc(unused, func(name string) bool { return name == f.path })
		}
	}
	for _, name := range unused {
		out = append(out, "levels.txt: "+name+" does not use the machine's clock")
	}
	return out
}

// importNames maps the names of a file's imports to paths, for the standard library.
func importNames(f *source) map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := at[strings.LastIndex(at, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = at
	}
	return names
}

// checkInit finds init functions.
func checkInit(m *module, _ table) []string {
	var out []string
	for _, f := range m.production() {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, m.at(fn)+": has an init function")
			}
		}
	}
	return out
}

// checkVars finds package variables that may change. It allows blank variables, embedded files,
// variables that the linker sets, and values that cannot change. It also allows tables that have
// a comment and that no code of the package assigns to.
func checkVars(m *module, tab table) []string {
	var out []string
	for _, f := range m.production() {
		v := variables{m: m, f: f, linked: tab.linked, names: importNames(f)}
		for _, d := range f.ast.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if why := v.judge(decl, spec, i); why != "" {
						out = append(out, fmt.Sprintf("%s: variable %s %s", m.at(name), name.Name, why))
					}
				}
			}
		}
	}
	return out
}

// A variables checks the variables of one file.
type variables struct {
	m      *module
	f      *source
	linked map[string][]string // folders by name of a variable that the linker sets
	names  map[string]string   // names of the file's imports
}

// judge returns the problem of the i-th name of a declaration, or nothing.
func (v variables) judge(decl *ast.GenDecl, spec *ast.ValueSpec, i int) string {
	name := spec.Names[i].Name
	switch {
	case name == "_" || embedded(decl, spec):
		return ""
	case slices.Contains(v.linked[name], v.f.dir):
		return ""
	case assigned(v.m, v.f.dir, name):
		return "is changed"
	case i >= len(spec.Values):
		return "has no value"
	case frozen(v.names, spec.Values[i]):
		return ""
	case spec.Doc == nil && spec.Comment == nil && (decl.Lparen.IsValid() || decl.Doc == nil):
		return "is a table without a comment"
	}
	return ""
}

func embedded(decl *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{decl.Doc, spec.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	return false
}

// frozen reports whether a value is a call whose result cannot change.
func frozen(names map[string]string, value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun := call.Fun
	switch x := fun.(type) { // a call of a generic function
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	calls := []string{
		"errors.New", "fmt.Errorf", "regexp.MustCompile", "github.com/org/foreman-action/internal/text.Regexp", "reflect.TypeFor", "reflect.TypeOf",
		"strings.NewReplacer", "sync.OnceFunc", "sync.OnceValue", "sync.OnceValues",
	}
	return slices.Contains(calls, names[pkg.Name]+"."+sel.Sel.Name)
}

// assigned reports whether code of a package, apart from tests, assigns to a variable or to a
// part of it, or takes its address.
func assigned(m *module, dir, name string) bool {
	found := false
	for _, f := range m.production() {
		if f.dir != dir {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, target := range targets(n) {
				if id := base(target); id != nil && id.Name == name && global(f, id) {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// targets returns the expressions that a node assigns to, or whose address it takes.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear" || fn.Name == "copy") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// base returns the identifier of the variable that x is a part of, such as a for a.b[0]; nil:
// none.
func base(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// global reports whether an identifier refers to a variable of the package: the parser found it
// in the file's scope or in no scope.
func global(f *source, id *ast.Ident) bool {
	return id.Obj == nil || f.ast.Scope.Lookup(id.Name) == id.Obj
}
