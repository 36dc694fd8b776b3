package rules

import (
	"cmp"
	"slices"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// IssueForms are the issue forms of a repository. Rules that know them read the answers more exactly:
// "None" is no answer to a dropdown, a comma in an option separates nothing, and a heading in the
// text of a field begins no other field. The zero value has no forms.
type IssueForms struct{ list []forms.Template }

// Add adds an issue form, a file of .github/ISSUE_TEMPLATE. It ignores a file that is none.
func (f *IssueForms) Add(name string, src []byte) {
	if t, ok := forms.ParseTemplate(name, src); ok {
		f.list = append(f.list, t)
	}
}

// A FormUse is a name that rule files declare for a field of an issue form.
type FormUse struct {
	Name    string
	Heading string           // as written in the file
	Type    string           // text, semver, number, list or checkboxes
	Place   yamlfile.Problem // of the heading, without a message
	TypeAt  yamlfile.Problem // of the type, or of the heading when the file has no type
}

// Heads reports whether label is the label of this field in an issue form. It ignores case and the
// number of spaces.
func (u FormUse) Heads(label string) bool {
	return forms.HeadingKey(u.Heading) == forms.HeadingKey(label)
}

// formUses returns the names that rule files declare under forms.
func formUses(names *symbols.Table) []FormUse {
	var list []FormUse
	for _, d := range names.Forms {
		u := FormUse{Name: d.Name, Heading: d.Heading, Type: d.Type, Place: d.File.At(d.Node, 1, 1, "")}
		u.TypeAt = u.Place
		if d.TypeNode != nil {
			u.TypeAt = d.File.At(d.TypeNode, 1, 1, "")
		}
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b FormUse) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// A TableUse is a table in which rules look up the value of a form field.
type TableUse struct {
	Table, Form string // their names
	Keys        []TableKey
}

// A TableKey is the key of a row.
type TableKey struct {
	Key   string
	Place yamlfile.Problem // without a message
}

// formTableUses returns the tables in which rules look up the value of a form field.
func formTableUses(names *symbols.Table, rules []*rule) []TableUse {
	c := collector{names: names}
	for _, r := range rules {
		c.condition(r.when)
		for _, a := range r.actions {
			c.action(a)
		}
	}
	var list []TableUse
	for _, t := range c.tables {
		use := TableUse{Table: t.Rows.Name, Form: t.Form}
		if slices.ContainsFunc(list, func(u TableUse) bool { return u.Table == use.Table && u.Form == use.Form }) {
			continue
		}
		for i := 0; i+1 < len(t.Rows.Node.Content); i += 2 {
			key := t.Rows.Node.Content[i]
			use.Keys = append(use.Keys, TableKey{key.Value, t.Rows.File.At(key, 1, 1, "")})
		}
		list = append(list, use)
	}
	return list
}
