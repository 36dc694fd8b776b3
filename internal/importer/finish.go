package importer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/rules"
)

// finish checks the draft and returns it, unless something was wrong in the files.
func (d *draft) finish(files ...*strictyaml.File) (Result, error) {
	if err := strictyaml.Err(slices.Compact(files)...); err != nil {
		return Result{}, err
	}
	if n := d.count(); n > maxRules || d.full() {
		return Result{}, strictyaml.Problems{{File: d.file.Name(), Msg: fmt.Sprintf(
			"import: the rules would be more than %d, or the file larger than %d bytes; split the source", maxRules, strictyaml.MaxSize)}}
	}
	w, err := d.checked()
	if err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(d.notes, func(a, b strictyaml.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if d.lost > 0 {
		d.notes = append(d.notes, strictyaml.Problem{File: d.file.Name(), Msg: fmt.Sprintf("%d more are not listed", d.lost)})
	}
	r := Result{Unmapped: d.notes, Rules: d.count()}
	if r.Rules > 0 {
		r.Config = []byte(w.b.String())
	}
	return r, nil
}

// maxTries bounds how often what is left is compiled again.
const maxTries = 20

func (d *draft) count() int {
	n := 0
	for _, e := range d.entries {
		n += len(e.rules)
	}
	return n
}

// checked renders the draft and compiles the rules; those that the language refuses,
// such as patterns that would take too long, are left out.
func (d *draft) checked() (*writer, error) {
	for range maxTries {
		w := d.render()
		found, err := compile(w.b.String())
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || d.count() == 0 {
			return w, nil
		}
		d.drop(w, found)
	}
	return nil, errors.New("import: what was produced does not compile")
}

// compile returns what is wrong with the rules of a file that we wrote.
func compile(text string) (strictyaml.Problems, error) {
	f, err := strictyaml.Parse("imported", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("import: read what was produced: %w", err)
	}
	src := rules.Source{File: f, Node: strictyaml.Child(f.Root(), "rules")}
	if src.Node == nil || src.Node.Tag == "!!null" {
		return nil, nil
	}
	_, err = rules.Compile(src)
	ps, _ := errors.AsType[strictyaml.Problems](err)
	return ps, nil
}

// drop leaves out the rules that have mistakes and says which.
func (d *draft) drop(w *writer, found strictyaml.Problems) {
	wrong := map[int]string{}
	for _, p := range found {
		i, exact := slices.BinarySearch(w.rules, p.Line)
		if !exact {
			i--
		}
		if wrong[i] == "" {
			wrong[i] = p.Msg
		}
	}
	i := -1
	for _, e := range d.entries {
		var rest []rule
		for _, r := range e.rules {
			i++
			if wrong[i] == "" {
				rest = append(rest, r)
				continue
			}
			d.noteEntry(e, "our rules cannot say "+r.id+": "+wrong[i])
		}
		e.rules = rest
	}
}

// noteEntry is a note about the start of an entry.
func (d *draft) noteEntry(e *entry, msg string) {
	if len(d.notes) == maxNotes {
		d.lost++
		return
	}
	d.keep(e, d.file.At(&yaml.Node{Line: max(e.from, 1), Column: 1}, 1, 1, msg))
}
