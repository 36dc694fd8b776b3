package starter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/text"
)

const (
	maxFormRules = 10
	maxOptions   = 50  // of a table
	maxHeading   = 100 // bytes of a field's label
)

// A field is a dropdown of issue forms whose options have labels.
type field struct {
	name    string // its name in conditions
	heading string
	options []option
}

// An option of a field and its label.
type option struct{ text, label string }

// table is the name of the table with the labels of a field's options.
func (f field) table() string { return f.name + "_label" }

// formRules returns the rules that label issues by the options that people choose in forms.
func formRules(ctx context.Context, forms []lint.Form, labels labelIndex) ([]proposed, error) {
	fields, err := fieldsOf(ctx, forms, labels)
	if err != nil {
		return nil, err
	}
	var list []proposed
	for _, f := range fields {
		p := proposed{
			id: strings.ReplaceAll(f.name, "_", "-"), from: fromForms, on: []string{"issues.opened", "issues.edited"}, field: &f,
			when:  fmt.Sprintf("any(form.%s, # in tables.%s)", f.name, f.table()),
			then:  []string{"add_labels: " + quote(fmt.Sprintf("map(filter(form.%s, # in tables.%s), tables.%s[#])", f.name, f.table(), f.table()))},
			title: "It stopped", body: "### " + f.heading + "\n\n" + f.options[0].text + "\n", after: []string{f.options[0].label},
			test: "an answer to " + f.heading,
		}
		for _, o := range f.options {
			if !slices.Contains(p.labels, o.label) {
				p.labels = append(p.labels, o.label)
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// fieldsOf returns the first maxFormRules dropdowns with options that have labels. Fields with
// the same heading are one.
func fieldsOf(ctx context.Context, forms []lint.Form, labels labelIndex) ([]field, error) {
	options := map[string][]string{} // the options, by heading
	var headings []string
	for _, form := range forms {
		for _, f := range form.Fields {
			// A condition cannot name a field whose label begins with "#", the mark of a heading.
			if f.Type != "dropdown" || strings.HasPrefix(f.Label, "#") || strings.ContainsFunc(f.Label, unprintable) || strings.Contains(f.Label, "{{") || len(f.Label) > maxHeading {
				continue
			}
			key := headingKey(f.Label)
			if _, known := options[key]; !known {
				headings = append(headings, f.Label)
				options[key] = nil
			}
			for _, o := range f.Options {
				if len(options[key]) < maxOptions && !slices.Contains(options[key], o) {
					options[key] = append(options[key], o)
				}
			}
		}
	}
	var list []field
	used := map[string]bool{}
	for _, h := range headings {
		if len(list) == maxFormRules {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := field{heading: h, options: labels.of(options[headingKey(h)])}
		if len(f.options) == 0 {
			continue
		}
		f.name = nameOf(h, used)
		list = append(list, f)
	}
	return list, nil
}

// headingKey returns a heading in the form for comparisons: case and spaces do not matter.
func headingKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// A labelIndex maps the result of core to the labels that have this result.
type labelIndex map[string][]string

func indexOf(labels []string) labelIndex {
	index := labelIndex{}
	for _, l := range labels {
		words := core(l)
		index[words] = append(index[words], l)
	}
	return index
}

// same returns the labels that have the same words as an option.
func (x labelIndex) same(option string) []string {
	if words := core(option); words != "" {
		return x[words]
	}
	return nil
}

// of returns the options that have a label with the same words. If several labels fit an option, it
// uses the one whose group fits the most options.
func (x labelIndex) of(options []string) []option {
	same := make([][]string, len(options))
	votes := map[string]int{}
	for i, o := range options {
		same[i] = x.same(o)
		for _, l := range same[i] {
			votes[group(l)]++
		}
	}
	var list []option
	for i, o := range options {
		if strings.Contains(o, ",") || strings.ContainsFunc(o, unprintable) || strings.Contains(o, "{{") {
			continue // GitHub writes commas between the chosen options
		}
		best := ""
		for _, l := range same[i] {
			if best == "" || votes[group(l)] > votes[group(best)] {
				best = l
			}
		}
		if best != "" {
			list = append(list, option{o, best})
		}
	}
	return list
}

var noName = text.Regexp(`[^a-z0-9]+`)

// keywords are words of the language of conditions.
func keywords() []string {
	return []string{"in", "not", "and", "or", "let", "if", "else", "true", "false", "nil", "matches", "contains"}
}

// nameOf returns an unused name of a field for conditions, and marks it as used.
func nameOf(heading string, used map[string]bool) string {
	const longest = 30
	name := strings.Trim(noName().ReplaceAllString(strings.ToLower(heading), "_"), "_")
	if len(name) > longest {
		name = strings.Trim(name[:longest], "_")
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' || slices.Contains(keywords(), name) {
		name = strings.TrimSuffix("field_"+name, "_")
	}
	one := name
	for i := 2; used[one] || slices.ContainsFunc(kinds(), func(k kind) bool { return k.id == strings.ReplaceAll(one, "_", "-") }); i++ {
		one = fmt.Sprintf("%s_%d", name, i)
	}
	used[one] = true
	return one
}
