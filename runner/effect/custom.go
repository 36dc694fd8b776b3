package effect

import (
	"strconv"

	"github.com/org/foreman-action/protocol"
)

// Custom carries out an action that is not built in. The program that runs the runner defines it, as
// a runner.Action. Hosts never get it.
type Custom struct {
	Spec protocol.ActionSpec
	// Item has the parameters of Spec, and no others. Names are sanitized.
	Item protocol.ActionItem
	// ID distinguishes the action from the others of its decision. Attempts at the task that make the
	// same decision use the same ID.
	ID string
	// Task is the id of the task to which the action belongs if it is not the one that writes: an action
	// that a person accepted belongs to its proposal. Empty: the one that writes.
	Task string
}

func (e Custom) action() string { return e.Spec.Name }

// values returns the value of the main parameter, unless it is free text.
func (e Custom) values() []string {
	for _, p := range e.Spec.Params {
		if p.Name != e.Spec.Main || p.Kind == protocol.KindMarkdown || p.Unrecorded {
			continue
		}
		if p.Kind == protocol.KindInt {
			if n, ok, err := e.Item.Int(p.Name); ok && err == nil {
				return []string{strconv.FormatInt(n, 10)}
			}
			return nil
		}
		list, _, _ := e.Item.Texts(p.Name)
		return list
	}
	return nil
}
