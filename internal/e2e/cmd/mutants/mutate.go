package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable is the environment variable with the ID of the mutant that takes effect. reachedVariable
// is the one with the file to which the tests write the IDs of the mutants that they reach.
const (
	variable        = "FOREMAN_MUTANT"
	reachedVariable = "FOREMAN_MUTANTS_REACHED"
)

// helper is the content of a file that is added to a mutated package.
const helper = `package %s

import (
	"os"
	"sync"
)

var (
	mutantInEffect = os.Getenv("` + variable + `")
	reachedFile    = os.Getenv("` + reachedVariable + `")
	mutantsReached sync.Map
)

// mutated returns the changed value when the mutant is in effect. It also records that a test has
// reached the mutant.
func mutated[T any](id string, original, changed T) T {
	if mutantInEffect == id {
		return changed
	}
	if reachedFile == "" {
		return original
	}
	if _, seen := mutantsReached.LoadOrStore(id, true); !seen {
		file, err := os.OpenFile(reachedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		if _, err := file.WriteString(id + "\n"); err != nil {
			panic(err)
		}
		if err := file.Close(); err != nil {
			panic(err)
		}
	}
	return original
}
`

// A mutant is one change.
type mutant struct {
	id        string
	dir, file string // folder of the package, and name of the file
	line      int
	function  string
	from, to  string // source text before and after, for people
}

// key identifies a mutant across changes of other lines.
func (m mutant) key() string {
	return fmt.Sprintf("%s/%s: %s: %s -> %s", m.dir, m.file, m.function, m.from, m.to)
}

func (m mutant) String() string {
	return fmt.Sprintf("%s/%s:%d: %s: %s -> %s", m.dir, m.file, m.line, m.function, m.from, m.to)
}

// An edit replaces a part of a file.
type edit struct {
	start, end int
	text       string
}

// permitting maps functions to the return value with which they refuse or limit nothing.
func permitting() map[string]string {
	return map[string]string{
		"policy.Allows": "true", "policy.MayLabel": "true", "policy.denied": "false", "policy.covered": "true",
		"policy.Match": "true", "policy.matchHost": "true", "policy.listed": "true", "policy.alike": "false",
		"policy.forbids": "false", "policy.longer": "false", "policy.fewer": "false", "policy.tighter": "false", "policy.Proposes": "false", "policy.approves": "false",
		"plan.take": "true", "plan.skip": "false", "plan.overridable": "false", "plan.hasCooldown": "false", "plan.closedBy": "false",
		"proposal.Permits": "true", "proposal.Writes": "true", "proposal.ClosedSince": "false",
		"proposal.Edited": "false", "proposal.Fits": "true", "proposal.same": "false", "proposal.sameComment": "false",
		"runner.answerable": "true", "runner.AgentWaits": "false",
	}
}

// looser maps functions that merge two policies to the return value that ignores the other policy.
func looser() map[string]string {
	return map[string]string{"policy.stricter": "p.mine", "policy.unknownAction": "mine"}
}

// calls maps functions whose second argument can make them skip a step to the value with which
// they do not skip it.
func calls() map[string]string {
	return map[string]string{"plan.skip": "false", "plan.skipBecause": `""`}
}

// dropping lists functions that omit names or values by "if … { continue }".
func dropping() []string { return []string{"plan.allowed", "plan.filter", "policy.limits"} }

// accepting lists functions that accept what fulfills all parts of a condition, by "if a && b { … }".
func accepting() []string { return []string{"proposal.Ticked"} }

// refusing lists functions of which every condition is made false, also one that does not leave the
// function or the loop.
func refusing() []string {
	return []string{"runner.tick", "runner.withAnswer", "proposal.add", "plan.propose", "plan.knownProposals"}
}

// missing returns the functions in the lists above that a package does not declare.
func missing(pkg string, declared map[string]bool) []string {
	names := slices.Concat(slices.Collect(maps.Keys(permitting())), slices.Collect(maps.Keys(looser())), slices.Collect(maps.Keys(calls())), dropping(), accepting(), refusing())
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !strings.HasPrefix(name, pkg+".") || declared[name] })
}

// mutate writes changed copies of the files of a package, and returns their mutants. It adds the
// copies to replace, and the functions of the package to declared.
func mutate(root string, t target, work string, replace map[string]string, declared map[string]bool) ([]mutant, error) {
	dir := t.dir
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	name := filepath.Base(dir)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := finder{dir: dir, file: filepath.Base(path), name: name, src: src, fset: token.NewFileSet(), declared: declared, guards: t.guards || slices.Contains(t.files, filepath.Base(path))}
		if err := f.find(); err != nil {
			return nil, err
		}
		if len(f.edits) == 0 {
			continue
		}
		all = append(all, f.mutants...)
		changed := filepath.Join(work, name+"_"+filepath.Base(path))
		if err := os.WriteFile(changed, f.changed(), 0o600); err != nil {
			return nil, err
		}
		replace[path] = changed
	}
	extra := filepath.Join(work, name+"_mutants.go")
	if err := os.WriteFile(extra, fmt.Appendf(nil, helper, name), 0o600); err != nil {
		return nil, err
	}
	replace[filepath.Join(root, filepath.FromSlash(dir), "zz_mutants.go")] = extra
	return all, nil
}

// writeOverlay writes the file that "go test -overlay" reads.
func writeOverlay(path string, replace map[string]string) error {
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// A finder finds the mutants of one file.
type finder struct {
	dir, file, name string
	src             []byte
	fset            *token.FileSet
	edits           []edit
	mutants         []mutant
	declared        map[string]bool // functions, as package.name
	guards          bool            // whether conditions are mutated, too
}

func (f *finder) find() error {
	parsed, err := parser.ParseFile(f.fset, f.file, f.src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.declared[f.name+"."+fn.Name.Name] = true
			f.function(fn.Name.Name, fn.Type, fn.Body)
		}
	}
	return nil
}

// function finds the mutants in a function, and in function literals inside it.
func (f *finder) function(name string, typ *ast.FuncType, body *ast.BlockStmt) {
	reasons := returnsReasons(typ, body)
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.function(name, n.Type, n.Body)
			return false
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "set" && len(n.Args) == 2 {
				f.verdict(name, n.Args[0])
			}
			if ok && sel.Sel.Name == "withhold" && len(n.Args) == 3 {
				f.wrap(name, n.Args[1], "triage.Suggest")
			}
			if fun, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 1 && calls()[f.name+"."+fun.Name] != "" {
				f.wrap(name, n.Args[1], calls()[f.name+"."+fun.Name])
			}
		case *ast.AssignStmt:
			if b, ok := n.Rhs[0].(*ast.BinaryExpr); ok && f.guards && len(n.Rhs) == 1 && comparison(b) {
				f.guard(name, b)
			}
			if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Verdict" && len(n.Rhs) == 1 {
				f.verdict(name, n.Rhs[0])
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && typ.Results.NumFields() > 1 {
				return true // it returns all results of a call
			}
			f.returned(name, n, reasons)
		case *ast.SwitchStmt:
			if f.guards && n.Tag == nil {
				for _, c := range n.Body.List {
					for _, condition := range c.(*ast.CaseClause).List { //nolint:forcetypeassert // the grammar has nothing else
						f.guard(name, condition)
					}
				}
			}
		case *ast.IfStmt:
			if f.guards && (n.Else == nil && leaves(n.Body) || slices.Contains(refusing(), f.name+"."+name)) {
				f.guard(name, n.Cond)
			}
			if slices.Contains(accepting(), f.name+"."+name) {
				f.parts(name, n.Cond, "true")
			}
			if slices.Contains(dropping(), f.name+"."+name) && endsInContinue(n.Body) {
				f.wrap(name, n.Cond, "false")
			}
		}
		return true
	})
}

// verdict adds a mutant for a verdict that is Refuse or Skip: it becomes Do.
func (f *finder) verdict(function string, e ast.Expr) {
	if text := f.text(e); text == "triage.Refuse" || text == "triage.Skip" {
		f.wrap(function, e, "triage.Do")
	}
}

// returned adds the mutants of a return statement. If reasons is set, the first result is a reason
// to refuse.
func (f *finder) returned(function string, n *ast.ReturnStmt, reasons bool) {
	if len(n.Results) == 0 {
		return
	}
	key := f.name + "." + function
	last := n.Results[len(n.Results)-1]
	switch value, listed := permitting()[key]; {
	case listed:
		switch {
		case f.text(last) == value:
		case f.guards:
			f.parts(function, last, value)
		default:
			f.wrap(function, last, value)
		}
	case looser()[key] != "":
		if f.text(last) != looser()[key] {
			f.wrap(function, last, looser()[key])
		}
	case reasons && f.text(n.Results[0]) != `""`:
		f.wrap(function, n.Results[0], `""`)
	}
}

// guard adds a mutant for each alternative of a condition: it is false. A condition that only passes
// on an error is left out.
func (f *finder) guard(function string, e ast.Expr) {
	switch n := e.(type) {
	case *ast.ParenExpr:
		f.guard(function, n.X)
		return
	case *ast.BinaryExpr:
		if n.Op == token.LOR {
			f.guard(function, n.X)
			f.guard(function, n.Y)
			return
		}
	}
	if strings.HasSuffix(f.text(e), "err != nil") {
		return
	}
	f.wrap(function, e, "false")
}

// parts adds a mutant for each part of a condition: it is true if all parts must hold, and false if one
// suffices.
func (f *finder) parts(function string, e ast.Expr, value string) {
	op := token.LAND
	if value == "false" {
		op = token.LOR
	}
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == op {
		f.parts(function, b.X, value)
		f.parts(function, b.Y, value)
		return
	}
	if !strings.HasSuffix(f.text(e), "err == nil") {
		f.wrap(function, e, value)
	}
}

// comparison reports whether an expression is a condition.
func comparison(b *ast.BinaryExpr) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR}, b.Op)
}

// leaves reports whether a block ends by leaving the function or the loop.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	}
	return false
}

// wrap adds a mutant that replaces an expression by a value.
func (f *finder) wrap(function string, e ast.Expr, value string) {
	at := f.fset.Position(e.Pos())
	m := mutant{
		id: fmt.Sprintf("%s/%s:%d:%d", f.dir, f.file, at.Line, at.Column), dir: f.dir, file: f.file, line: at.Line, function: function,
		from: strings.Join(strings.Fields(f.text(e)), " "), to: value,
	}
	f.mutants = append(f.mutants, m)
	f.edits = append(f.edits,
		edit{f.offset(e.Pos()), f.offset(e.Pos()), fmt.Sprintf("mutated(%q, ", m.id)},
		edit{f.offset(e.End()), f.offset(e.End()), ", " + value + ")"},
	)
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) text(n ast.Node) string { return string(f.src[f.offset(n.Pos()):f.offset(n.End())]) }

// changed returns the file with all edits.
func (f *finder) changed() []byte {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return cmp.Compare(b.start, a.start) })
	out := slices.Clone(f.src)
	for _, e := range f.edits {
		out = slices.Concat(out[:e.start], []byte(e.text), out[e.end:])
	}
	return out
}

// returnsReasons reports whether the first result of a function is a string, and one return
// statement has an empty string. A string that is not empty is then a reason to refuse.
func returnsReasons(typ *ast.FuncType, body *ast.BlockStmt) bool {
	if typ.Results == nil || len(typ.Results.List) == 0 {
		return false
	}
	if id, ok := typ.Results.List[0].Type.(*ast.Ident); !ok || id.Name != "string" {
		return false
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			lit, ok := r.Results[0].(*ast.BasicLit)
			found = found || ok && lit.Value == `""`
		}
		return true
	})
	return found
}

func endsInContinue(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	s, ok := b.List[len(b.List)-1].(*ast.BranchStmt)
	return ok && s.Tok == token.CONTINUE
}
