package rules

import (
	"cmp"
	"slices"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// compareForms compares the declared fields with the issue forms of the repository.
func compareForms(names *symbols.Table, files []rulesource.IssueForm) {
	var list []forms.Template
	for _, f := range files {
		if t, ok := forms.ParseTemplate(f.Name, f.Data); ok {
			list = append(list, t)
		}
	}
	for _, field := range names.Forms {
		field.Compare(list)
	}
}

// formUses returns the names that rule files declare under forms.
func formUses(names *symbols.Table) []ruleset.FormUse {
	var list []ruleset.FormUse
	for _, d := range names.Forms {
		u := ruleset.FormUse{Name: d.Name, Heading: d.Heading, Type: d.Type, Place: d.File.At(d.Node, 1, 1, "")}
		u.TypeAt = u.Place
		if d.TypeNode != nil {
			u.TypeAt = d.File.At(d.TypeNode, 1, 1, "")
		}
		list = append(list, u)
	}
	order.Stable(list, func(a, b ruleset.FormUse) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// formTableUses returns the tables in which rules look up the value of a form field.
func formTableUses(names *symbols.Table, rules []*rule) []ruleset.TableUse {
	c := collector{names: names}
	for _, r := range rules {
		c.condition(r.when)
		for _, a := range r.actions {
			c.action(a)
		}
	}
	var list []ruleset.TableUse
	for _, t := range c.tables {
		use := ruleset.TableUse{Table: t.Rows.Name, Form: t.Form}
		if slices.ContainsFunc(list, func(u ruleset.TableUse) bool { return u.Table == use.Table && u.Form == use.Form }) {
			continue
		}
		for i := 0; i+1 < len(t.Rows.Node.Content); i += 2 {
			key := t.Rows.Node.Content[i]
			use.Keys = append(use.Keys, ruleset.TableKey{Key: key.Value, Place: t.Rows.File.At(key, 1, 1, "")})
		}
		list = append(list, use)
	}
	return list
}
