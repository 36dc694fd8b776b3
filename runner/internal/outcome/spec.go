package outcome

import (
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
)

// SpecOf returns the specification of an action type, including the types that only revert other
// actions. ok is false for an unknown type.
func SpecOf(typ string) (spec protocol.ActionSpec, ok bool) {
	spec = protocol.ActionSpec{Name: typ, RecordOnly: true, Gone: true}
	switch typ {
	case effect.ActionAllowAgain:
		spec.Params, spec.Thing = []protocol.Param{{Name: "label"}}, Forbidden
	case effect.ActionKeepOpen:
		spec.Params, spec.Thing = []protocol.Param{{Name: "rule"}}, Scheduled
	default:
		return protocol.SpecOf(typ)
	}
	return spec, true
}

// Cancels reports whether an action of that type cancels a deferred action in the memory.
func Cancels(typ string) bool { return typ == effect.ActionAllowAgain || typ == effect.ActionKeepOpen }

// RecordOnly reports whether an effect changes only the memory's record of the issue, and not the
// issue.
func RecordOnly(e effect.Effect) bool {
	if c, closes := e.(effect.Close); closes && c.After > 0 {
		return true
	}
	spec, _ := SpecOf(effect.TypeOf(e))
	return spec.RecordOnly
}
