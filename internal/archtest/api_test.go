package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stable lists the packages whose exported declarations are in testdata/api.txt. docs/embed.md promises
// that these do not change unseen.
var stable = []string{
	"agent", "agent/agentcheck", "config", "github", "harness", "policy", "protocol", "rules", "rules/facts", "rules/problem",
	"runner", "runner/effect", "triage", "webhook",
}

// TestAPI compares the exported declarations of the stable packages with testdata/api.txt. With -update
// it writes them there: a change belongs into CHANGELOG.md, below "For embedders".
func TestAPI(t *testing.T) {
	t.Parallel()
	m, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	const name = "testdata/api.txt"
	got := api(m)
	if *update {
		if err := os.WriteFile(name, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), got); diff != "" {
		t.Errorf("the API changed: list it in CHANGELOG.md below \"For embedders\", and run this test with -update (-want +got):\n%s", diff)
	}
}

// TestExamples requires an example of each package that other modules can import, for its documentation.
func TestExamples(t *testing.T) {
	t.Parallel()
	m, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]bool{}
	for _, f := range m.files {
		for _, e := range doc.Examples(f.ast) {
			examples[f.dir] = examples[f.dir] || e.Output != "" || e.EmptyOutput
		}
	}
	missing := map[string]bool{}
	for _, f := range m.production() {
		missing[f.dir] = f.ast.Name.Name != "main" && !isInternal(f.dir) && !examples[f.dir]
	}
	for dir, yes := range missing {
		if yes {
			t.Errorf("package %s has no example that go test runs", dir)
		}
	}
}

// TestAPIOf checks the lines of declarations that programs could depend on.
func TestAPIOf(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", `package p
// T is a type.
type T struct { A, b int; E }
type I interface { M(x int) error; n() }
type F func(a, b string) (bool, error)
type hidden struct { A int }
const ( C K = "c"; d = 1 )
var V, w = 1, 2
func New(o *T) (T, error) { return T{}, nil }
func (t *T) Get() int { return 0 }
func (h hidden) Get() int { return 0 }
func own() {}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"const C K = \"c\"", "func (t *T) Get() int", "func New(o *T) (T, error)", "type F func(a, b string) (bool, error)",
		"type I interface", "type I interface: M func(x int) error", "type T struct", "type T struct: A int", "type T struct: E", "var V",
	}
	got := apiOf(fset, f)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// api returns a line for each exported declaration, field and method of the stable packages.
func api(m *module) []string {
	var out []string
	for _, f := range m.production() {
		if !slices.Contains(stable, f.dir) {
			continue
		}
		for _, line := range apiOf(m.fset, f.ast) {
			out = append(out, f.dir+": "+line)
		}
	}
	slices.Sort(out)
	return out
}

// apiOf returns a line for each exported declaration of a file.
func apiOf(fset *token.FileSet, f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
				out = append(out, printed(fset, &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						out = append(out, declaredType(fset, s)...)
					}
				case *ast.ValueSpec:
					out = append(out, declaredValues(fset, d.Tok, s)...)
				}
			}
		}
	}
	return out
}

// declaredType returns a line for a type, and for each of its exported fields or methods.
func declaredType(fset *token.FileSet, s *ast.TypeSpec) []string {
	var kind string
	var members *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		kind, members = "struct", t.Fields
	case *ast.InterfaceType:
		kind, members = "interface", t.Methods
	default:
		return []string{"type " + printed(fset, &ast.TypeSpec{Name: s.Name, TypeParams: s.TypeParams, Assign: s.Assign, Type: s.Type})}
	}
	line := "type " + s.Name.Name + " " + kind
	out := []string{line}
	for _, f := range members.List {
		typ := printed(fset, f.Type)
		if len(f.Names) == 0 {
			out = append(out, line+": "+typ)
		}
		for _, name := range f.Names {
			if name.IsExported() {
				out = append(out, line+": "+name.Name+" "+typ)
			}
		}
	}
	return out
}

// declaredValues returns a line for each exported constant or variable. Values of constants are part of
// messages and files.
func declaredValues(fset *token.FileSet, kind token.Token, s *ast.ValueSpec) []string {
	var out []string
	for i, name := range s.Names {
		if !name.IsExported() {
			continue
		}
		line := fmt.Sprintf("%s %s", kind, name.Name)
		if s.Type != nil {
			line += " " + printed(fset, s.Type)
		}
		if kind == token.CONST && i < len(s.Values) {
			line += " = " + printed(fset, s.Values[i])
		}
		out = append(out, line)
	}
	return out
}

// printed returns a node in one line.
func printed(fset *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
