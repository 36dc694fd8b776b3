package importer

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
)

const (
	maxRules = 5000 // the limit of package rules
	maxTries = 20   // how often finish removes refused rules and compiles the others
)

// finish renders a draft and compiles its rules. It drops and reports rules that the rule language
// refuses, such as those with patterns that would take too long.
func finish(d draft, found *report, source *yamlfile.File) (Result, error) {
	for range maxTries {
		p := render(d)
		mistakes, err := compile(p.text)
		if err != nil {
			return Result{}, err
		}
		if len(mistakes) == 0 || d.count() == 0 {
			d, p, err = gathered(d, p)
			return result(d, p, found.problems(source.Name())), err
		}
		d.entries = drop(d.entries, refusals(p, mistakes), found, source)
	}
	return Result{}, errors.New("import: the produced rules do not compile")
}

// gathered returns a draft in which similar rules are merged, and its page. If the merged rules do
// not compile, it merges fewer of them, and at last none.
func gathered(d draft, p page) (draft, page, error) {
	// Patterns that are each cheap enough may together be too expensive for one list.
	for _, most := range []int{40, 20, 12, 8, 5} {
		g := d
		g.entries = gather(d.entries, maps.Clone(d.given), most)
		if g.count() == d.count() {
			break
		}
		q := render(g)
		mistakes, err := compile(q.text)
		if err != nil {
			return draft{}, page{}, err
		}
		if len(mistakes) == 0 {
			return g, q, nil
		}
	}
	return d, p, nil
}

func result(d draft, p page, unmapped yamlfile.Problems) Result {
	r := Result{Unmapped: unmapped, Rules: d.count(), Shadow: d.shadow, Notes: p.notes, Items: p.rules, Policy: d.need()}
	if r.Rules > 0 {
		r.Config = []byte(p.text)
	}
	for _, e := range d.entries {
		if e.leftOut() {
			r.LeftOut = append(r.LeftOut, e.name)
		}
		for _, one := range e.rules {
			r.IDs = append(r.IDs, one.id)
			if example, ok := one.example(); ok {
				r.Examples = append(r.Examples, example)
			}
		}
	}
	return r
}

// compile returns the mistakes in the rules of a file that this package has rendered.
func compile(text string) (yamlfile.Problems, error) {
	f, err := yamlfile.Parse("imported", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("import: read the produced rules: %w", err)
	}
	if list := yamlfile.Child(f.Root(), "rules"); !yamlfile.IsNull(list) {
		_, err = rules.Compile(rules.Source(rulesource.New(rulesource.Parts{File: f, Rules: list})))
	}
	ps, _ := errors.AsType[yamlfile.Problems](err)
	return ps, nil
}

// refusals returns the first mistake of each rule with mistakes, by the rule's index in the page.
func refusals(p page, mistakes yamlfile.Problems) map[int]string {
	out := map[int]string{}
	for _, m := range mistakes {
		i, exact := slices.BinarySearch(p.starts, m.Line)
		if !exact {
			i--
		}
		if out[i] == "" {
			out[i] = m.Message
		}
	}
	return out
}

// drop returns the entries without the refused rules, and reports these.
func drop(entries []entry, refused map[int]string, found *report, source *yamlfile.File) []entry {
	out := slices.Clone(entries)
	i := -1
	for at, e := range out {
		var rest []rule
		for _, r := range e.rules {
			i++
			if refused[i] == "" {
				rest = append(rest, r)
				continue
			}
			e.notes = append(e.notes, found.addLine(source, max(e.line, 1), "rule "+r.id+" was not imported: "+refused[i])...)
		}
		e.rules = rest
		out[at] = e
	}
	return out
}
