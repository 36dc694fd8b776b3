package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/labels"
	"github.com/org/foreman-action/runner/internal/plan"
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
	// falseBefore are the ids of the rules whose condition was false for the issue in the event, if
	// the issue was read again since.
	falseBefore []string
	warn        func(format string, args ...any)
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
		since = d.Time()
	}
	if s.labels == nil {
		s.labels = labels.New(s.o.Host.Repository, s.o.Host.KnownLabel)
	}
	if s.read != nil {
		known := *s.read
		known.d, known.warn = d, warn
		return attempt{setup: s, d: d, given: g, warn: warn, reads: &known}
	}
	return attempt{setup: s, d: d, given: g, warn: warn, reads: &reads{
		host: s.o.Host, memory: s.o.Memory, login: s.login(), task: s.id.ID, now: s.o.Clock.Now, warn: warn,
		d: d, live: s.o.Live, since: since, resumed: !s.id.First, labels: s.labels,
		unkept: s.o.Memory.ReadOnly && s.o.Memory.Implicit && !s.ruleset().UsesMemory() && !s.ruleset().ClosesLater() && !s.forbidsLabels(),
	}}
}

// identity identifies what the attempt writes.
func (a attempt) identity() history.Identity {
	return history.Identity{
		Ref: a.d.Ref(), Task: a.id.ID, Scope: a.id.Scope, Nonce: a.id.Nonce, Login: a.login(),
		Earlier: a.id.Earlier, LoginSetting: a.o.Host.LoginSetting,
	}
}

// planned describes the attempt for the review of its plan.
func (a attempt) planned() plan.Attempt {
	at := plan.Attempt{
		Identity: a.identity(), Now: a.o.Clock.Now(), Since: a.reads.since, Resumed: a.reads.resumed, Fresh: a.reads.fresh(), Untouched: a.reads.untouched,
		Read:       a.d.Name == triage.EventSchedule && !a.first,
		Remembers:  a.o.Memory.Store != nil && !a.o.Memory.Discards,
		Proposes:   a.o.Memory.Store != nil && !a.o.Memory.Discards && !a.reads.fresh() && (a.reads.kept != nil || a.proposes()),
		UsesMemory: !a.o.Memory.Implicit || a.forbidsLabels() || a.reads.record != nil,
	}
	if c := a.d.Comment; a.d.Name == triage.EventIssueComment && a.d.Action == "created" {
		at.Said = triage.TimelineEvent{
			ID: c.ID, Kind: "commented", At: c.CreatedAt, Actor: c.Author, ActorType: a.d.Sender.Type, Association: c.Association,
		}
	}
	return at
}

// sticky returns the id of the comment that a source last posted or updated with update_comment,
// from the memory. It returns 0 if there is none, or if the record was not read and load is false.
func (a attempt) sticky(ctx context.Context, source string, load bool) int64 {
	if a.reads.record == nil && !load {
		return 0
	}
	return history.StickyOf(a.reads.Record(ctx), source)
}
