package effect

import "github.com/org/foreman-action/protocol"

// AddLabels adds labels. Labels that the issue already has stay.
type AddLabels struct {
	Names []string
	// Intents are shown beside the labels, one for each name; nil: none. See [Intent].
	Intents []Intent
	// IDs are the GraphQL ids of labels that the host remembered, in the order of Names; "": the label was
	// looked up now. Nil: none was remembered. If a label has another id after the write, it was deleted
	// meanwhile, and the write created it again: then the host deletes it, and reports it in
	// [Written.Missing].
	IDs []string
}

func (AddLabels) action() string     { return protocol.ActionAddLabels }
func (e AddLabels) values() []string { return e.Names }

// RemoveLabels removes labels; it is no error if the issue does not have them. An action removes
// one label, but a write may combine several actions.
type RemoveLabels struct {
	Names []string
	// Issue is the GraphQL id of the issue, and IDs are the GraphQL ids of the labels, in the order
	// of Names. A host needs them to remove several labels by one write.
	Issue string
	IDs   []string
}

func (RemoveLabels) action() string     { return protocol.ActionRemoveLabel }
func (e RemoveLabels) values() []string { return e.Names }
