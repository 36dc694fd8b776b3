package effect

import "github.com/org/foreman-action/protocol"

// Assign adds assignees.
type Assign struct {
	Logins []string
	// Intents are shown beside the assignees, one for each login; nil: none. See [Intent].
	Intents []Intent
}

func (Assign) action() string     { return protocol.ActionAssign }
func (e Assign) values() []string { return e.Logins }

// Unassign removes assignees.
type Unassign struct{ Logins []string }

func (Unassign) action() string     { return protocol.ActionUnassign }
func (e Unassign) values() []string { return e.Logins }
