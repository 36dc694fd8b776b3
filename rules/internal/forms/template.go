package forms

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Template is an issue form of the repository: the fields that people fill in, in order.
type Template struct {
	order  []string // the headings as text.HeadingKey returns them
	fields []templateField
}

// A templateField is a field of a form.
type templateField struct {
	dropdown bool
	long     bool // its text may have several lines
	options  []string
}

const (
	maxTemplateFields = 200 // of a form with more fields the order is not known
	maxTemplates      = 100
)

// ParseTemplate reads an issue form, as in .github/ISSUE_TEMPLATE. Unknown parts are skipped. ok is
// false for a text that is not a form, or a form that is too large.
func ParseTemplate(name string, src []byte) (t Template, ok bool) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return Template{}, false
	}
	body := yamlfile.Child(f.Root(), "body")
	if body == nil || body.Kind != yaml.SequenceNode {
		return Template{}, false
	}
	for _, item := range body.Content {
		attributes, kind := yamlfile.Child(item, "attributes"), value(yamlfile.Child(item, "type"))
		label := text.HeadingKey(value(yamlfile.Child(attributes, "label")))
		if label == "" || kind == "markdown" {
			continue
		}
		field := templateField{dropdown: kind == "dropdown", long: kind == "textarea"}
		if options := yamlfile.Child(attributes, "options"); field.dropdown && options != nil && options.Kind == yaml.SequenceNode {
			for _, o := range options.Content {
				if s := strings.TrimSpace(value(o)); strings.Contains(s, ",") {
					field.options = append(field.options, s)
				}
			}
		}
		t.order, t.fields = append(t.order, label), append(t.fields, field)
	}
	return t, len(t.order) > 0 && len(t.order) <= maxTemplateFields
}

// value returns the text of a scalar; "" for another node.
func value(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// Compare looks for the field in the forms of the repository.
func (d *Field) Compare(templates []Template) {
	d.templates = templates[:min(len(templates), maxTemplates)]
	for _, t := range d.templates {
		for i, heading := range t.order {
			if heading != d.key {
				continue
			}
			f := t.fields[i]
			d.dropdown = f.dropdown && (d.dropdown || !d.compared)
			d.compared = true
			d.options = append(d.options, f.options...)
		}
	}
	slices.SortFunc(d.options, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	d.options = slices.Compact(d.options)
}

// align returns the index of the section of each field. GitHub writes each field of a form once and
// in order, so the sections between them are in the text of one field: the first sections belong
// to the fields up to that one, and the last sections to the fields after it. ok is false if the
// sections are not those of the form.
func (t Template) align(list []section) (found []int, ok bool) {
	fields, more := len(t.order), len(list)-len(t.order)
	if more < 0 {
		return nil, false
	}
	before := 0
	for before < fields && list[before].heading == t.order[before] {
		before++
	}
	after := 0
	for after < fields && list[len(list)-1-after].heading == t.order[fields-1-after] {
		after++
	}
	places := map[string]int{}
	for i, heading := range t.order {
		places[heading] = i + 1
	}
	at := make([]int, len(list)) // the place of each section in the form; 0: none
	for i, s := range list {
		at[i] = places[s.heading]
	}
	best := -1
	for k := max(1, fields-after); k <= before; k++ {
		if more > 0 && !t.fields[k-1].long {
			continue
		}
		if best < 0 {
			best = k
		}
		// Another issue that was pasted is in the order of the form, too.
		if ordered(at[k : k+more]) {
			best = k
			break
		}
	}
	if best < 0 {
		return nil, false
	}
	for i := range fields {
		if i >= best {
			i += more
		}
		found = append(found, i)
	}
	return found, true
}

// ordered reports whether places are in the order of the form; 0 does not count.
func ordered(places []int) bool {
	last := 0
	for _, p := range places {
		if p != 0 && p <= last {
			return false
		}
		last = max(last, p)
	}
	return true
}
