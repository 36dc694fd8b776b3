package lint

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
)

// forms compares the form fields that the rules declare with the forms of the repository.
func (c *checker) forms() {
	if !slices.ContainsFunc(c.repo.Forms, Form.isForm) {
		return
	}
	var labels []string
	for _, f := range c.repo.Forms {
		for _, field := range f.Fields {
			labels = append(labels, field.Label)
		}
	}
	declared := (*ruleset.Set)(c.config.Rules).Rules().Forms()
	for _, u := range declared {
		if !slices.ContainsFunc(labels, u.Heads) {
			// The field may be in a form that could not be read.
			c.report(u.Place, c.repo.partial, "no issue form of the repository has a field with the label %q%s", cut(u.Heading), nearest(u.Heading, labels))
			continue
		}
		c.types(u)
	}
	for _, t := range (*ruleset.Set)(c.config.Rules).Rules().FormTables() {
		i := slices.IndexFunc(declared, func(u ruleset.FormUse) bool { return u.Name == t.Form })
		if i >= 0 {
			c.keys(t, declared[i])
		}
	}
	for _, v := range (*ruleset.Set)(c.config.Rules).Rules().FormValues() {
		i := slices.IndexFunc(declared, func(u ruleset.FormUse) bool { return u.Name == v.Form })
		if i >= 0 && v.Value != "" {
			c.option(v, declared[i])
		}
	}
}

// isForm distinguishes an issue form from a template in Markdown.
func (f Form) isForm() bool { return !strings.HasSuffix(f.File, ".md") }

// A place is a field with the name of its file.
type place struct {
	Field
	file string
}

// fields returns the fields of the repository's forms that have the declared heading.
func (c *checker) fields(u ruleset.FormUse) []place {
	var list []place
	for _, f := range c.repo.Forms {
		for _, field := range f.Fields {
			if u.Heads(field.Label) {
				list = append(list, place{field, f.File})
			}
		}
	}
	return list
}

// types warns if the declared type fits none of the fields.
func (c *checker) types(u ruleset.FormUse) {
	fields := c.fields(u)
	if slices.ContainsFunc(fields, func(p place) bool { return p.wants(u.Type) == "" }) {
		return
	}
	p := fields[0]
	kind := p.Type
	if p.Many {
		kind += " with several options"
	}
	c.warn(u.TypeAt, "the field %q of %s has the type %s, which %s does not read; write type: %s", cut(p.Label), p.file, cut(kind), u.Type, p.wants(u.Type))
}

// wants returns the type that fits the field better than the declared one; "" when the declared
// type fits.
func (f Field) wants(declared string) string {
	switch {
	case f.Type == "":
	case f.Type == "checkboxes" && declared != "checkboxes":
		return "checkboxes"
	case f.Type != "checkboxes" && declared == "checkboxes", f.Many && declared != "list":
		if f.Type == "dropdown" {
			return "list"
		}
		return "text"
	}
	return ""
}

// options returns the options of the field in all forms; none if people can write any text into it.
func (c *checker) options(u ruleset.FormUse) []string {
	var options []string
	for _, p := range c.fields(u) {
		if len(p.Options) == 0 {
			return nil
		}
		options = append(options, p.Options...)
	}
	return options
}

// keys warns of table rows whose key is not an option of the field.
func (c *checker) keys(t ruleset.TableUse, u ruleset.FormUse) {
	options := c.options(u)
	for _, k := range t.Keys {
		if len(options) > 0 && !slices.Contains(options, k.Key) {
			c.warn(k.Place, "tables.%s: the field %q has no option %q%s", t.Table, cut(u.Heading), cut(k.Key), nearest(k.Key, options))
		}
	}
}

// option warns of a comparison with a text that is not an option of the field.
func (c *checker) option(v ruleset.FormValue, u ruleset.FormUse) {
	options := c.options(u)
	if len(options) == 0 || c.repo.partial || slices.Contains(options, v.Value) {
		return
	}
	hint := nearest(v.Value, options)
	if v.Value == "None" || v.Value == "_No response_" {
		hint = "; a field without an answer is nil: form." + v.Form + " == nil"
	}
	c.warn(v.Place, "the field %q has no option %q%s", cut(u.Heading), cut(v.Value), hint)
}
