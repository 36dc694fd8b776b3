package effect

import "github.com/org/foreman-action/protocol"

// NeverAgain records labels that must never be added to the issue again.
type NeverAgain struct{ Labels []string }

func (NeverAgain) action() string     { return protocol.ActionNeverAgain }
func (e NeverAgain) values() []string { return e.Labels }

// AllowAgain is the inverse of [NeverAgain].
type AllowAgain struct{ Label string }

func (AllowAgain) action() string     { return ActionAllowAgain }
func (e AllowAgain) values() []string { return one(e.Label) }
