package rules

import (
	"reflect"
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

const maxHeading = 200 // characters; more are no label of a form

// parseField reads the declaration of a field with that name. Mistakes are recorded in f,
// and a field with mistakes is returned all the same.
func parseField(f *strictyaml.File, name string, n *yaml.Node) *formField {
	d := &formField{name: name, typ: formText}
	d.decode(f, n)
	return d
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
		f.Problemf(keys.Type, "type: want %s, got %q%s", strings.Join(formTypes(), ", "), text.Shorten(typ, text.Quoted), strictyaml.DidYouMean(typ, formTypes()))
		return
	}
	d.typ = typ
}

// headingFor is the heading that a scalar in the place of a mapping most likely is.
func headingFor(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "" && !strings.ContainsAny(n.Value, "\n{}[],:#") {
		return text.Shorten(n.Value, text.Quoted)
	}
	return "Version"
}

// formSchema returns the JSON Schema of the declaration of a field.
func formSchema() map[string]any {
	return strictyaml.Schema(reflect.TypeFor[formKeys](), formKey)
}

func formKey(key string) map[string]any {
	if key == "type" {
		return map[string]any{"enum": formTypes(), "default": formText, "description": "What the answer is read as."}
	}
	return map[string]any{"type": "string", "minLength": 1, "maxLength": maxHeading, "description": "Label of the field in the issue form."}
}
