package effect

import "github.com/org/foreman-action/protocol"

// SetMilestone sets the open milestone with that title. An empty title removes the milestone.
type SetMilestone struct{ Title string }

func (e SetMilestone) action() string {
	if e.Title == "" {
		return protocol.ActionRemoveMilestone
	}
	return protocol.ActionSetMilestone
}
func (e SetMilestone) values() []string { return one(e.Title) }
