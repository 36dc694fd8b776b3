package effect

import "github.com/org/foreman-action/protocol"

// HideComment hides a comment of ours as outdated.
type HideComment struct {
	Key string // key of a sticky comment; empty: our newest visible comment of any kind
	ID  string // GraphQL id of the comment to hide; empty: not known yet
}

func (HideComment) action() string   { return protocol.ActionHideComment }
func (HideComment) values() []string { return nil }
