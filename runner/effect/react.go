package effect

import "github.com/org/foreman-action/protocol"

// React adds a reaction to the issue or to one of its comments.
type React struct {
	Content string // such as "+1"
	Comment int64  // id of the comment; 0: the issue itself
}

func (React) action() string     { return protocol.ActionReact }
func (e React) values() []string { return one(e.Content) }
