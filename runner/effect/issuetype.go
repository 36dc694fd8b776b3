package effect

import "github.com/org/foreman-action/protocol"

// SetType sets the issue type with that name.
type SetType struct {
	Name   string
	Intent Intent // shown beside the type; zero: none. See [Intent].
}

func (SetType) action() string     { return protocol.ActionSetType }
func (e SetType) values() []string { return one(e.Name) }
