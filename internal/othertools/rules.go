package othertools

import "github.com/org/foreman-action/internal/yamlfile"

// A Source is a file: its name for messages, and its text.
type Source struct {
	Name string
	Data []byte
}

// A Request is a configuration to import.
type Request struct {
	Tool string // the name of a [Tool]
	File Source // its configuration
	// Workflow is the workflow file that runs the tool; its inputs and events affect the result. An
	// empty name means that there is no workflow. For tools of [Tool.InWorkflow], File is the workflow.
	Workflow Source
	// Reserved are ids that the new rules must not have.
	Reserved []string
}

// Rules are the rules of several imported files as the parts of one configuration file.
type Rules struct {
	Policy string // the policy section including its key; empty: the rules need none
	Items  string // the items of the list of rules; a comment precedes those of each source
	Count  int    // number of rules
	// Examples are events for the rules for which one is known, in the order of the rules.
	Examples []Example
	// Sources are the files that the rules come from, in order, without files that have no rules.
	Sources []Origin
	// Crons are the times at which the workflows start that are configurations of tools.
	Crons []string
	// LeftOut names the entries without a rule, with their files.
	LeftOut []string
	// Unmapped lists the parts without a counterpart, source by source.
	Unmapped yamlfile.Problems
}

// An Origin is a file that was imported.
type Origin struct {
	File, Action string // the file's name, and the action whose configuration it is
	Rules        int
}

// An Example describes an event for which a rule should fire. A field that does not matter is empty.
// An example can be wrong, such as for a rule whose conditions exclude each other. Callers must run it.
type Example struct {
	Rule   string   // the rule's id
	Event  string   // as in a rule's "on", with an activity
	Label  string   // of the event
	Old    bool     // the issue is older than any number of days in a rule
	Title  []string // texts in the title
	Body   []string // texts in the body
	Labels []string
	Pull   bool // the issue is a pull request
	Files  []string
	Head   string
	Base   string
	Repo   string // OWNER/NAME
}
