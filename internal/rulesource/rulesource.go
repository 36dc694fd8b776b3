// Package rulesource contains the YAML nodes behind a rules.Source. Packages that read rules from
// files of their own, such as config, make such sources:
//
//	rules.Source(rulesource.New(rulesource.Parts{File: f, Rules: n}))
//
// Package rules reads their parts. For all others a source has no content.
package rulesource

import (
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A Source is the underlying type of rules.Source.
type Source struct{ parts Parts }

// New returns a source.
func New(p Parts) Source { return Source{p} }

// Parts returns the content of the source.
func (s Source) Parts() Parts { return s.parts }

// Parts are the content of a source: the list of rules in a file, with the names that the file
// declares for the rules of all files. Rules, Forms, Tables and Tests are the values of these keys;
// nil means that the file does not have the key. Mistakes are recorded in File.
type Parts struct {
	File   *yamlfile.File
	Rules  *yaml.Node
	Forms  *yaml.Node
	Tables *yaml.Node
	Tests  *yaml.Node
	// Own are functions and actions that the program adds; nil: none. A source of them needs no File.
	Own *Own
	// IssueForms are the issue forms of the repository, if they are known. Rules that know them read
	// the answers more exactly: "None" is no answer to a dropdown, a comma in an option separates
	// nothing, and a heading in the text of a field begins no other field. One source is enough to
	// have them; nil: they are not known.
	IssueForms []IssueForm
	// Condition is the place of the text that rules.CompileCondition compiles. Mistakes in the text
	// are placed there. Nil: another source has it, or the text is not from a file.
	Condition *yaml.Node
}

// An IssueForm is a file of .github/ISSUE_TEMPLATE. One that is no form has no effect.
type IssueForm struct {
	Name string
	Data []byte
}
