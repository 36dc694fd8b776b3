package runner

import (
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An attempt is the data of one try at one task: the setup, the event with its issue, and the
// facts read for it.
type attempt struct {
	setup

	d     triage.Delivery
	given *given // nil: the agent is still to be asked
	reads *reads
	due   *memory.ScheduledClose // the close that is carried out now; nil: an event is decided on
	// first is whether the attempt only checks for work: its decision is repeated on the
	// current issue.
	first bool
	warn  func(format string, args ...any)
}

// A given decision was made before its task came to a Runner.
type given struct {
	message *protocol.DecisionMessage // nil: no agent was asked
	since   time.Time                 // before this the task cannot have written
	decided time.Time                 // when the issue last changed before the decision; zero: not known
}

// rerunWindow is longer than GitHub lets a workflow run be run again.
const rerunWindow = 35 * 24 * time.Hour

// newAttempt begins an attempt at the task of a setup. warn receives warnings for maintainers.
func newAttempt(s setup, d triage.Delivery, g *given, warn func(format string, args ...any)) attempt {
	// When the issue last changed before the event, the task had not begun. The issue of a
	// dispatch event is fetched only now.
	since := s.o.Clock.Now().Add(-rerunWindow)
	switch {
	case g != nil:
		since = g.since
	case d.Happened():
		since = d.Issue.UpdatedAt
	}
	if s.labels == nil {
		s.labels = newLabels(s.o.Host.Repository)
	}
	if s.read != nil {
		known := *s.read
		known.d, known.warn = d, warn
		return attempt{setup: s, d: d, given: g, warn: warn, reads: &known}
	}
	return attempt{setup: s, d: d, given: g, warn: warn, reads: &reads{
		host: s.o.Host, memory: s.o.Memory, login: s.o.Host.Login, task: s.o.Task.ID, now: s.o.Clock.Now, warn: warn,
		d: d, live: s.o.Live, since: since, resumed: s.o.Task.Resumed, labels: s.labels,
		unkept: s.o.Memory.ReadOnly && s.o.Memory.Implicit && !s.c.Rules.UsesMemory() && !s.c.Rules.ClosesLater() && !s.forbidsLabels(),
	}}
}
