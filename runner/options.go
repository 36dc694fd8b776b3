package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// Options configure a Runner. The zero value of each field is usable
// unless its comment states otherwise.
type Options struct {
	Config *config.Config // nil: no rules, the safe policy
	Task   TaskIdentity   // must be set
	Host   Host           // zero: only dry runs
	Agent  AgentOptions   // zero: the rules alone decide
	Memory Memory         // zero: nothing is remembered
	Clock  Clock
	DryRun bool // decide and plan, write nothing; Config.Mode shadow does the same
	// Live means that the event is handled as it happens. On an issue that was just opened
	// only others who got the same event can have done something: the memory is not read, and
	// the timeline only before a comment that a comment interval holds for.
	Live bool
	// Explain asks for Report.Why.
	Explain bool
	// Audit is called once, after the decision and before the first call that acts on
	// it, with the record of the decision. Its error stops the run.
	Audit func(Audit) error
	// Log takes progress, a line each; nil discards. Lines may hold untrusted text.
	Log func(format string, args ...any)
}

// A TaskIdentity names one attempt at one task.
type TaskIdentity struct {
	ID string // UUID version 4 in lower case; must be set
	// Scope keeps two executors of the same task apart, such as two steps of one workflow
	// job: letters, digits, '.', '_' and '-'. Scopes that differ only behind their last '.'
	// name executors that do the same, such as the jobs of a matrix: a comment of one counts
	// for the policy's comment interval of the others.
	Scope string
	// Nonce is a secret of this run, letters and digits, new for each: by it a comment of
	// unknown outcome is recognized whichever account the token turns out to post as. Empty:
	// only comments by Host.Login are.
	Nonce string
	// Resumed means that an earlier attempt at the task may have written already.
	Resumed bool
	// Earlier are the ids of earlier decisions on the same event, such as before it was decided
	// on anew: a comment that one of them posted is not posted again with the same text.
	Earlier []string
	// Settled is the time from which a write that an earlier attempt began cannot take effect any
	// more. Zero: none can.
	Settled time.Time
}

// Memory configures the memory of a Runner.
type Memory struct {
	Store memory.Store // nil: nothing is remembered
	// Agenda lists the closes that are due, usually of the same store. Nil: closes after a
	// grace period are refused.
	Agenda memory.Agenda
	// Batch is Store, for scheduled runs: their saves are made sure of together. Nil: each is by
	// itself.
	Batch memory.Batch
	// Journal keeps each decision and how far its actions got, so that a later attempt at the
	// task can resume it. Nil: an attempt that is cut off is decided anew.
	Journal memory.Journal
	// Summarize renders the summary for the agent from a record, as [memory.Record.Faded]
	// returns it; ok is false when there is none. Nil: [memory.Summary].
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)
	// Implicit means that the memory was not configured: that something could not be stored in it
	// goes to the log and is not a warning.
	Implicit bool
	// Required means that an attempt fails when its actions cannot be recorded, so that it is
	// repeated. With a Journal the repetition writes nothing twice.
	Required bool
	// Discards means that Store keeps nothing: deferred actions are refused.
	Discards bool
	// ReadOnly means that Store cannot be written: deferred actions are refused, and tasks are
	// not recorded.
	ReadOnly bool
	// Unscheduled means that there are no scheduled runs, which would carry out the closes
	// that are due: closes after a grace period are refused.
	Unscheduled bool
}

// Clock is time as a Runner sees it.
type Clock struct {
	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
}

// DefaultBot is the login of an Actions token.
const DefaultBot = "github-actions[bot]"

// An Agent decides on a task. It is asked once for each run. Implementations are
// safe for concurrent use.
type Agent interface {
	// Decide returns the decision on the task. Its task_id is that of the task. The
	// error states what went wrong without any secret; nothing is written then.
	Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)
}

// AgentOptions configure the agent that is asked when the rules leave an event open.
type AgentOptions struct {
	Agent Agent  // nil: the rules alone decide
	Name  string // such as its address, for the audit
	// AnswersAll means that an agent may answer any event that it decides on with a comment.
	// Otherwise edits, label events and comments are answered only where a rule names the
	// event. What rules ask for is judged by that in any case.
	AnswersAll bool
}

// A setup contains the data that all attempts of a Runner share: the options with their
// defaults filled in.
type setup struct {
	o       Options
	c       config.Config
	dry     bool    // no writes, whether the caller or the mode asks for it
	tryOnly bool    // the caller asks for it
	labels  *labels // those of the repository, for all attempts; nil: each looks them up itself
	read    *reads  // on the issue, by a first look at it; nil: there was none
	saves   *saves  // of a scheduled run; nil: each is sure when it is made
}

func newSetup(o Options) setup {
	s := setup{o: o, tryOnly: o.DryRun}
	if o.Config != nil {
		s.c = *o.Config
	}
	s.dry = o.DryRun || s.c.Mode == config.ModeShadow
	if s.o.Host.Login == "" {
		s.o.Host.Login = DefaultBot
	}
	if s.o.Clock.Now == nil {
		s.o.Clock.Now = time.Now
	}
	if s.o.Log == nil {
		s.o.Log = func(string, ...any) {}
	}
	return s
}

// forTask returns the setup for another task.
func (s setup) forTask(id string) setup {
	s.o.Task.ID = id
	return s
}

// source returns a rule as the source of an action.
func (s setup) source(rule string) triage.Source {
	return triage.Source{Rule: rule, OverrideHumans: s.c.Rules.OverridesHumans(rule)}
}

// forbidsLabels reports whether a rule or an agent can have forbidden labels for good.
func (s setup) forbidsLabels() bool {
	return s.c.Rules.NeverAgain() || s.o.Agent.Agent != nil && s.c.Policy.Forbids(protocol.ActionNeverAgain, triage.Source{}) == ""
}
