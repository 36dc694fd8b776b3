package effect

import "github.com/org/foreman-action/protocol"

// Comment posts a comment. If ID is set, it replaces that comment.
type Comment struct {
	Body string // neutralized
	Key  string // key of a sticky comment, of which there is one per key; empty: always a new comment
	Once string // key of a comment that is posted only once on the issue; empty: no such limit
	Nth  int    // number of earlier comments of the task with the same Key
	ID   int64  // id of the comment to replace; 0: post a new comment
}

func (e Comment) action() string {
	if e.Key != "" {
		return protocol.ActionUpdateComment
	}
	return protocol.ActionComment
}
func (e Comment) values() []string { return one(e.Once) }
