package lint

import (
	"errors"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A Form is an issue form, or an issue template in Markdown.
type Form struct {
	File   string
	Fields []Field
	Labels []string // labels that GitHub adds to its issues
}

// A Field is a field that people fill in.
type Field struct {
	Label   string
	Type    string   // "input", "textarea", "dropdown", "checkboxes" and others; empty: unknown
	Many    bool     // several options of the dropdown may be chosen
	Options []string // options of a dropdown or of checkboxes
}

const maxFields = 200 // of a form; further fields are ignored

var errNoForm = errors.New("it is not an issue form: it has no list named body")

// ParseForm parses an issue form or, when the name ends in .md, the headings of a template. It
// skips unknown parts. The error means that src is not a form; it may be a [yamlfile.Problems].
func ParseForm(name string, src []byte) (Form, error) {
	form := Form{File: name}
	if path.Ext(name) == ".md" {
		form.Fields = headings(src)
		return form, nil
	}
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return form, err
	}
	body := yamlfile.Child(f.Root(), "body")
	if body == nil || body.Kind != yaml.SequenceNode {
		return form, errNoForm
	}
	for _, name := range texts(yamlfile.Child(f.Root(), "labels")) {
		for label := range strings.SplitSeq(name, ",") {
			if label = strings.TrimSpace(label); label != "" && len(form.Labels) < maxFields {
				form.Labels = append(form.Labels, label)
			}
		}
	}
	for _, item := range body.Content {
		attributes := yamlfile.Child(item, "attributes")
		label := scalar(yamlfile.Child(attributes, "label"))
		if label == "" {
			continue // Markdown between fields
		}
		if len(form.Fields) == maxFields {
			break
		}
		form.Fields = append(form.Fields, Field{
			Label: label, Type: scalar(yamlfile.Child(item, "type")),
			Many: scalar(yamlfile.Child(attributes, "multiple")) == "true", Options: options(yamlfile.Child(attributes, "options")),
		})
	}
	return form, nil
}

// options reads a list of strings, or of mappings with a label.
func options(n *yaml.Node) []string {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	var list []string
	for _, item := range n.Content {
		if label := yamlfile.Child(item, "label"); label != nil {
			item = label
		}
		if s := scalar(item); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// headings reads the headings of a text in Markdown.
func headings(src []byte) []Field {
	const maxHeading = 200 // bytes
	var list []Field
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		text := strings.TrimSpace(strings.Trim(line, "#"))
		if len(list) < maxFields && strings.HasPrefix(line, "#") && text != "" && len(text) <= maxHeading {
			list = append(list, Field{Label: text})
		}
	}
	return list
}

// scalar returns the value of a scalar as one line; "" for any other node.
func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}
