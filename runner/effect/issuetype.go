package effect

import "github.com/org/foreman-action/protocol"

// SetType sets the issue type with that name. No action removes a type: an empty name takes back a type
// that was only proposed, see [Intent].
type SetType struct {
	Name   string
	Intent Intent // shown beside the type; zero: none. See [Intent].
}

func (SetType) action() string     { return protocol.ActionSetType }
func (e SetType) values() []string { return one(e.Name) }
