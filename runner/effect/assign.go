package effect

import "github.com/org/foreman-action/protocol"

// Assign adds assignees.
type Assign struct{ Logins []string }

func (Assign) action() string     { return protocol.ActionAssign }
func (e Assign) values() []string { return e.Logins }

// Unassign removes assignees.
type Unassign struct{ Logins []string }

func (Unassign) action() string     { return protocol.ActionUnassign }
func (e Unassign) values() []string { return e.Logins }
