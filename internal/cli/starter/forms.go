package starter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/lint"
)

const (
	maxFormRules = 10
	maxOptions   = 50 // of a table
)

// A field is a dropdown of issue forms whose options have labels.
type field struct {
	name    string // in conditions
	heading string
	options []option
}

// An option of a field and its label.
type option struct{ text, label string }

// table is the name of the table with the labels of a field's options.
func (f field) table() string { return f.name + "_label" }

// formRules returns the rules that label issues by the options that people choose in forms.
func formRules(forms []lint.Form, labels []string) []proposed {
	var list []proposed
	for _, f := range fieldsOf(forms, labels) {
		if len(list) == maxFormRules {
			break
		}
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
	return list
}

// fieldsOf returns the dropdowns with options that have labels. Fields with the same heading
// are one.
func fieldsOf(forms []lint.Form, labels []string) []field {
	options := map[string][]string{} // by heading
	var headings []string
	for _, form := range forms {
		for _, f := range form.Fields {
			if f.Type != "dropdown" || strings.ContainsFunc(f.Label, unprintable) || strings.Contains(f.Label, "{{") || len(f.Label) > 100 {
				continue
			}
			key := headingKey(f.Label)
			if !slices.ContainsFunc(headings, func(h string) bool { return headingKey(h) == key }) {
				headings = append(headings, f.Label)
			}
			for _, o := range f.Options {
				if !slices.Contains(options[key], o) && len(options[key]) < maxOptions {
					options[key] = append(options[key], o)
				}
			}
		}
	}
	var list []field
	used := map[string]bool{}
	for _, h := range headings {
		f := field{heading: h, options: labelled(options[headingKey(h)], labels)}
		if len(f.options) == 0 {
			continue
		}
		f.name = nameOf(h, used)
		list = append(list, f)
	}
	return list
}

// headingKey is a heading as it is compared: without regard to case and spaces.
func headingKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// labelled returns the options with a label of the same words. Of several such labels that of
// the group with the most options counts.
func labelled(options, labels []string) []option {
	votes := map[string]int{}
	for _, o := range options {
		for _, l := range labels {
			if same(o, l) {
				votes[group(l)]++
			}
		}
	}
	var list []option
	for _, o := range options {
		if strings.Contains(o, ",") || strings.ContainsFunc(o, unprintable) || strings.Contains(o, "{{") {
			continue // GitHub writes commas between the chosen options
		}
		best := ""
		for _, l := range labels {
			if same(o, l) && (best == "" || votes[group(l)] > votes[group(best)]) {
				best = l
			}
		}
		if best != "" {
			list = append(list, option{o, best})
		}
	}
	return list
}

// same reports whether an option and a label have the same words.
func same(option, label string) bool {
	o := core(option)
	return o != "" && o == core(label)
}

var noName = regexp.MustCompile(`[^a-z0-9]+`)

// keywords are words of the language of conditions.
func keywords() []string {
	return []string{"in", "not", "and", "or", "let", "if", "else", "true", "false", "nil", "matches", "contains"}
}

// nameOf returns a name of a field for conditions, which it adds to the used ones.
func nameOf(heading string, used map[string]bool) string {
	const most = 30
	name := strings.Trim(noName.ReplaceAllString(strings.ToLower(heading), "_"), "_")
	if len(name) > most {
		name = strings.Trim(name[:most], "_")
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
