package effect

import "github.com/org/foreman-action/protocol"

// Lock locks the conversation; the reason may be empty.
type Lock struct{ Reason string }

func (Lock) action() string     { return protocol.ActionLock }
func (e Lock) values() []string { return one(e.Reason) }

// Unlock unlocks the conversation.
type Unlock struct{}

func (Unlock) action() string   { return protocol.ActionUnlock }
func (Unlock) values() []string { return nil }
