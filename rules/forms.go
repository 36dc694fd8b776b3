package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
)

// The types of a form's fields.
const (
	formText       = "text"
	formSemver     = "semver"
	formNumber     = "number"
	formList       = "list"
	formCheckboxes = "checkboxes"
)

// formTypes lists the types in the order of messages.
func formTypes() []string {
	return []string{formText, formSemver, formNumber, formList, formCheckboxes}
}

// A formField is a name for what stands under a heading of an issue form.
type formField struct {
	name    string
	heading string // as headingKey returns it
	typ     string

	written  string // the heading in the file
	file     *strictyaml.File
	node     *yaml.Node // of the heading
	typeNode *yaml.Node // nil: the type is not written
}

// formKeys are the keys of a field in the file.
type formKeys struct {
	Heading *yaml.Node `mistaken:"label,title,name" yaml:"heading,required"`
	Type    *yaml.Node `mistaken:"kind"             yaml:"type"`
}

const (
	maxForms   = 100
	maxHeading = 200 // characters; more are no label of a form
)

// namePattern is what form and tables take as names, because rules write them after
// a dot.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// forms reads the value of "forms"; what is wrong is recorded in f. A field that is
// wrong is declared all the same, so that its uses are no further mistakes.
func (v *vocabulary) declareForms(f *strictyaml.File, n *yaml.Node) {
	eachName(f, n, "forms", func(key, value *yaml.Node) {
		switch _, twice := v.forms[key.Value]; {
		case twice:
			f.Problemf(key, "forms: %s is declared twice", key.Value)
			return
		case len(v.forms) == maxForms:
			f.Problemf(key, "forms: more than %d names", maxForms)
			return
		}
		field := &formField{name: key.Value, typ: formText}
		v.forms[key.Value] = field
		field.decode(f, value)
	})
}

func (d *formField) decode(f *strictyaml.File, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "forms.%s: want a mapping with heading and type, got %s; write {heading: %s, type: %s}", d.name, strictyaml.Kind(n), headingFor(n), formText)
		return
	}
	var keys formKeys
	f.Decode(n, &keys)
	d.file, d.node, d.typeNode = f, keys.Heading, keys.Type
	var heading string
	if keys.Heading != nil && f.DecodeKey("heading", keys.Heading, &heading) {
		d.written = strings.TrimLeft(heading, "# ")
		d.heading = headingKey(d.written)
		if d.heading == "" || utf8.RuneCountInString(heading) > maxHeading || strings.Contains(heading, "\n") {
			f.Problemf(keys.Heading, "heading: want the label of a form's field, one line of at most %d characters", maxHeading)
		}
	}
	typ := formText
	if keys.Type == nil || !f.DecodeKey("type", keys.Type, &typ) {
		return
	}
	if !slices.Contains(formTypes(), typ) {
		f.Problemf(keys.Type, "type: want %s, got %q%s", strings.Join(formTypes(), ", "), text.Shorten(typ, maxQuoted), strictyaml.DidYouMean(typ, formTypes()))
		return
	}
	d.typ = typ
}

// headingFor is the heading that a scalar in the place of a mapping most likely is.
func headingFor(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "" && !strings.ContainsAny(n.Value, "\n{}[],:#") {
		return text.Shorten(n.Value, maxQuoted)
	}
	return "Version"
}
