package runner

import (
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An attempt contains the data of one try to carry out a task: the setup, the event with its issue,
// and the data that was read.
type attempt struct {
	setup

	d     triage.Delivery
	given *given // the decision that was made before; nil: the agent is not asked yet
	reads *reads
	due   *memory.ScheduledClose // the close that is carried out now; nil: the attempt decides on an event
	// first means that the attempt only checks whether there is work. If there is, the decision is
	// made again on the current issue.
	first bool
	warn  func(format string, args ...any)
}

// A given decision was made before Runner.Apply was called.
type given struct {
	message *protocol.DecisionMessage // nil: no agent was asked
	since   time.Time                 // a time before which this task cannot have written
	decided time.Time                 // last change of the issue before the decision; zero: unknown
}

// rerunWindow is longer than the time within which GitHub permits a re-run of a workflow.
const rerunWindow = 35 * 24 * time.Hour

// newAttempt starts an attempt at the task of a setup. warn receives warnings for maintainers.
func newAttempt(s setup, d triage.Delivery, g *given, warn func(format string, args ...any)) attempt {
	// The task began after the last change of the issue before the event. For a dispatch event this
	// time is unknown, because its issue is fetched only now.
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
