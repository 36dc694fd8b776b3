package effect

import (
	"time"

	"github.com/org/foreman-action/protocol"
)

// Close closes the issue: now, or after the grace period After. If the issue is closed for another
// reason, the reason changes.
type Close struct {
	Reason string        // "completed", "not_planned" or empty for the host's default
	After  time.Duration // grace period; 0: now
	Veto   []string      // the vetoes of people that keep the issue open, such as protocol.VetoComment
}

func (Close) action() string     { return protocol.ActionCloseIssue }
func (e Close) values() []string { return one(e.Reason) }

// KeepOpen cancels the scheduled close of a rule; an empty id means the agent's.
type KeepOpen struct{ Rule string }

func (KeepOpen) action() string     { return ActionKeepOpen }
func (e KeepOpen) values() []string { return one(e.Rule) }

// Reopen opens the issue again.
type Reopen struct{}

func (Reopen) action() string   { return protocol.ActionReopenIssue }
func (Reopen) values() []string { return nil }
