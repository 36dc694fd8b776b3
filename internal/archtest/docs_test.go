package archtest

import (
	"fmt"
	"go/ast"
	"slices"
)

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
