// Package forms reads the values of an issue form. GitHub writes the values into the issue as
// sections of Markdown. A [Field] contains the heading and the type of one section.
package forms

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// The types of form fields.
const (
	Text       = "text"
	Semver     = "semver"
	Number     = "number"
	List       = "list"
	Checkboxes = "checkboxes"
)

// Types returns the types in the order in which messages list them.
func Types() []string {
	return []string{Text, Semver, Number, List, Checkboxes}
}

// A Field is a declared name for the section under a heading of an issue form.
type Field struct {
	Name string
	key  string // the heading as text.HeadingKey returns it
	Type string // one of [Types]

	Heading  string // the heading as written in the file
	File     *yamlfile.File
	Node     *yaml.Node // of the heading
	TypeNode *yaml.Node // nil: the declaration has no type

	// The field in the forms of the repository; see [Field.Compare].
	templates []Template
	compared  bool     // a form has the heading
	dropdown  bool     // every field with the heading is a dropdown
	options   []string // options that contain a comma, the longest first
}

// fieldKeys are the keys of a field in the file.
type fieldKeys struct {
	Heading *yaml.Node `mistaken:"label,title,name" yaml:"heading,required"`
	Type    *yaml.Node `mistaken:"kind"             yaml:"type"`
}

const maxHeading = 200 // characters; longer headings cannot be labels of a form

// Parse reads the declaration of a field with that name. Mistakes are recorded in f. A field is
// returned even if it has mistakes.
func Parse(f *yamlfile.File, name string, n *yaml.Node) *Field {
	d := &Field{Name: name, Type: Text}
	d.decode(f, n)
	return d
}

func (d *Field) decode(f *yamlfile.File, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		f.Problemf(n, "forms.%s: want a mapping with heading and type, got %s; write {heading: %s, type: %s}", d.Name, yamlfile.Kind(n), headingFor(n), Text)
		return
	}
	var keys fieldKeys
	f.Decode(n, &keys)
	d.File, d.Node, d.TypeNode = f, keys.Heading, keys.Type
	var heading string
	if keys.Heading != nil && f.DecodeKey("heading", keys.Heading, &heading) {
		d.Heading = strings.TrimLeft(heading, "# ")
		d.key = text.HeadingKey(d.Heading)
		if d.key == "" || utf8.RuneCountInString(heading) > maxHeading || strings.Contains(heading, "\n") {
			f.Problemf(keys.Heading, "heading: want the label of a form's field, one line of at most %d characters", maxHeading)
		}
	}
	typ := Text
	if keys.Type == nil || !f.DecodeKey("type", keys.Type, &typ) {
		return
	}
	if !slices.Contains(Types(), typ) {
		f.Problemf(keys.Type, "type: want %s, got %q%s", strings.Join(Types(), ", "), text.Shorten(typ, text.Quoted), yamlfile.DidYouMean(typ, Types()))
		return
	}
	d.Type = typ
}

// AppendCanonical appends to b what distinguishes the field from other fields: its heading and its type. A
// nil field appends nothing.
func (d *Field) AppendCanonical(b []byte) []byte {
	if d == nil {
		return b
	}
	return fmt.Appendf(b, "(form %q %q)", d.key, d.Type)
}

// headingFor returns the heading for the suggestion in a message: a scalar that was written in
// place of the mapping, if it looks like a heading.
func headingFor(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "" && !strings.ContainsAny(n.Value, "\n{}[],:#") {
		return text.Shorten(n.Value, text.Quoted)
	}
	return "Version"
}

// Schema returns the JSON Schema of the declaration of a field.
func Schema() map[string]any {
	return yamlfile.Schema(reflect.TypeFor[fieldKeys](), fieldKey)
}

func fieldKey(key string) map[string]any {
	if key == "type" {
		return map[string]any{"enum": Types(), "default": Text, "description": "The type of the answer."}
	}
	return map[string]any{"type": "string", "minLength": 1, "maxLength": maxHeading, "description": "Label of the field in the issue form."}
}
