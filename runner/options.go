package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner/internal/labels"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// Options configure a Runner. The zero value of each field is usable
// unless its comment states otherwise.
type Options struct {
	Config *config.Config // nil: no rules, and the default policy
	Host   Host           // zero: only dry runs
	Agent  AgentOptions   // zero: the rules alone decide
	Memory Memory         // zero: there is no memory
	Clock  Clock
	DryRun bool // decide and plan, but write nothing; Config.Mode shadow has the same effect
	// Supplied answers the look-ups of rules in place of Host and Memory, with what somebody knows who
	// tries the rules. It needs DryRun. Rules that need more are listed in Report.Undecided. Nil: Host
	// and Memory answer; without Host, look-ups count as missing values.
	Supplied facts.Lookup
	// Live means that the event is handled immediately. Then only other receivers of the same event
	// can have changed an issue that was just opened. So the memory is not read, and the timeline
	// is read only before a comment to which a comment interval applies.
	Live bool
	// Actions are the program's own actions. Rules can use those that rules.CompileOptions.Actions
	// names, and agents can request all of them. Each is carried out only if Config.Policy.Actions
	// names it.
	Actions []Action
	// Explain fills Report.Why.
	Explain bool
	// NoBoxes means that edits of comments are not reported with their sender, as by polling. Then people
	// answer proposals by commands alone, and the comment with the proposals has no boxes.
	NoBoxes bool
	// AcceptedClose means that accepted proposals may close issues although AllowClose of the policy is
	// false: the policy is that of rules, and an agent that may close can have proposed it.
	AcceptedClose bool
	// Panels is shared by Runners of one process, so that each knows what the others saw. Nil: the
	// Runner has its own.
	Panels *Panels
	// Audit is called once with the record of the decision, before the first call that acts on it.
	// Its error stops the run.
	Audit func(Audit) error
	// Log receives the progress at [slog.LevelInfo]; nil discards it. Messages may contain untrusted
	// text.
	Log *slog.Logger
}

// A TaskIdentity identifies one attempt at one task: one event, or one scheduled run. Attempts at the
// same task have the same ID and Scope, and write only once together.
type TaskIdentity struct {
	// ID is a UUID version 4 in lower case. A dry run may leave it empty. Then it is derived from the
	// event, and the attempt counts as the first.
	ID string
	// Scope distinguishes executors of the same task, such as two steps of one workflow job. It
	// contains letters, digits, '.', '_' and '-'. Scopes that differ only after their last '.'
	// belong to executors with the same role, such as the jobs of a matrix. Comments of such
	// executors count for each other's comment interval.
	Scope string
	// Nonce is a secret of letters and digits, new for each run. It identifies our comments, even
	// if the token posts under an unexpected account. Empty: only comments by Host.Login are
	// recognized.
	Nonce string
	// First means that no earlier attempt at the task can have written. Then the run does not search
	// for the writes of one. False is always safe: the issue and its comments are read before a write,
	// and without a Journal the run waits until 11 s after its start if it finds no write. An earlier
	// attempt must have ended before this one starts.
	First bool
	// Earlier are the ids of earlier decisions on the same event. If one of them posted a comment,
	// the same text is not posted again.
	Earlier []string
}

var taskID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Check returns an error that names the first invalid field; nil: a run accepts the identity.
func (id TaskIdentity) Check() error {
	switch {
	case !taskID.MatchString(id.ID):
		return fmt.Errorf("runner: TaskIdentity.ID: want a UUID, got %q", text.Quote(id.ID))
	case id.Scope != "" && !outcome.ValidKey(id.Scope):
		return fmt.Errorf("runner: TaskIdentity.Scope: want letters, digits, '.', '_' and '-', got %q", text.Quote(id.Scope))
	case id.Nonce != "" && !outcome.ValidKey(id.Nonce):
		return errors.New("runner: TaskIdentity.Nonce: want letters and digits")
	}
	return nil
}

// Memory configures the memory of a Runner.
type Memory struct {
	Store memory.Store // nil: nothing is stored
	// Agenda lists the scheduled closes, usually those in Store. Nil: closes with a grace period
	// are refused.
	Agenda memory.Agenda
	// LoadCalls is the number of calls of GitHub that loading a record usually takes; 0: none.
	LoadCalls int
	// Shared means that other programs can write to Store, as each job of a repository can upload artifacts.
	// Then closing and locking are never earned; see [policy.IsGrave].
	Shared bool
	// Batch is the Store of scheduled runs: all their saves are confirmed together. Nil: each save
	// is confirmed separately.
	Batch memory.Batch
	// Journal stores each decision and the progress of its actions, so that a later attempt can
	// resume the task. Nil: a later attempt decides again.
	Journal memory.Journal
	// Summarize renders the summary for the agent from a record that [memory.Record.Faded]
	// returned. ok is false if there is none. Nil means [memory.Summary].
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)
	// Implicit means that the memory was not configured. Then failures to store something are
	// logged instead of reported as warnings.
	Implicit bool
	// Required means that an attempt fails if its actions cannot be recorded, so that it is
	// repeated. With a Journal, the repetition does not write twice.
	Required bool
	// Discards means that Store stores nothing. Then deferred actions are refused.
	Discards bool
	// ReadOnly means that Store cannot be written. Then deferred actions are refused, and tasks are
	// not recorded.
	ReadOnly bool
	// Unscheduled means that no scheduled runs exist, which would carry out due closes. Then closes
	// with a grace period are refused.
	Unscheduled bool
}

// Clock provides the time to a Runner.
type Clock struct {
	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: a real timer
}

// DefaultBot is the login under which the token of GitHub Actions acts.
const DefaultBot = "github-actions[bot]"

// An Agent decides on tasks. It is asked at most once per run. Implementations are safe for
// concurrent use.
type Agent interface {
	// Decide returns the decision on the task. Its task id may be empty: then it is that of the task.
	// Another id is an error. With an error nothing is written. The error must not contain secrets.
	Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)
}

// AgentOptions configure the agent that is asked if the rules leave an event open.
type AgentOptions struct {
	Agent Agent  // nil: the rules alone decide
	Name  string // name for the audit, such as its address
	// Record is the name in track records, such as the host of the agent's address; empty: the agent's
	// actions have no track record. It stays the same when the address changes.
	Record string
	// AnswersAll means that an agent may comment on every event that it decides on. Otherwise
	// comments on edits, label events and comments are permitted only if a rule names the event.
	// Comments by rules always need this.
	AnswersAll bool
}

// A setup contains the data that all attempts at a task share: the options with defaults, and the
// task's identity.
type setup struct {
	o       Options
	id      TaskIdentity
	c       config.Config
	dry     bool                    // nothing is written, because the caller or the mode asks for it
	tryOnly bool                    // the caller asks for a dry run
	panels  *Panels                 // where GitHub's panel of suggestions is on; never nil
	posted  *atomic.Pointer[string] // author of the comments that this Runner posted; never nil
	settled time.Time               // time after which a write of an earlier attempt can no longer take effect
	labels  *labels.Index           // labels of the repository, shared by all attempts; nil: each attempt looks them up itself
	read    *reads                  // data that a first look at the issue has read; nil: there was no first look
	room    *proposalRoom           // of a scheduled run; nil: proposals are not limited
	saves   *saves                  // saves of a scheduled run that are confirmed at its end; nil: each save is confirmed immediately
}

func newSetup(o Options) setup {
	s := setup{o: o, tryOnly: o.DryRun, posted: &atomic.Pointer[string]{}, panels: cmp.Or(o.Panels, &Panels{})}
	if o.Config != nil {
		s.c = *o.Config
	}
	s.dry = o.DryRun || s.c.Mode == config.ModeShadow
	if s.o.Host.Login == "" {
		s.o.Host.Login = DefaultBot
	}
	s.o.Clock.Now = wait.Clock(s.o.Clock.Now)
	if s.o.Clock.Sleep == nil {
		s.o.Clock.Sleep = wait.For
	}
	if s.o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// login returns our login: the author of a comment that this Runner posted, or else the configured
// one.
func (s setup) login() string {
	if login := s.posted.Load(); login != nil {
		return *login
	}
	return s.o.Host.Login
}

// forTask returns the setup for another task.
func (s setup) forTask(id string) setup {
	s.id.ID = id
	return s
}

// ruleset returns what the flow reads from the rules besides decisions.
func (s setup) ruleset() ruleset.Rules { return (*ruleset.Set)(s.c.Rules).Rules() }

// source returns a rule as the source of an action. digest is as in [triage.Source].
func (s setup) source(rule, digest string) triage.Source {
	return triage.Source{Rule: rule, Digest: digest, OverrideHumans: s.ruleset().OverridesHumans(rule), Together: s.ruleset().Together(rule)}
}

// forbidsLabels reports whether a rule or an agent may have forbidden labels with never_again.
func (s setup) forbidsLabels() bool {
	return s.ruleset().NeverAgain() || s.o.Agent.Agent != nil && s.c.Policy.Forbids(protocol.ActionNeverAgain, triage.Source{}) == ""
}

// Panels are the repositories whose GitHub panel of suggestions was seen to be on within the last day. The
// zero value has none. It is safe for concurrent use, and must not be copied after its first use.
type Panels struct {
	mu   sync.Mutex
	seen map[string]time.Time // when it was last seen, by repository
}

// panelTime is how long a panel counts as on after it was seen.
const panelTime = 24 * time.Hour

// on reports whether the panel of a repository is on, as events of the timeline show. Nil: the timeline was
// not read.
func (p *Panels) on(repo string, t *triage.Timeline, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t == nil:
	case slices.ContainsFunc(t.Events, func(e triage.TimelineEvent) bool { return e.Intends }):
		if p.seen == nil {
			p.seen = map[string]time.Time{}
		}
		p.seen[repo] = now
	case slices.ContainsFunc(t.Events, func(e triage.TimelineEvent) bool { return e.Kind == "labeled" || e.Kind == "assigned" }):
		delete(p.seen, repo) // such events show it if it is on
	}
	at, ok := p.seen[repo]
	return ok && now.Sub(at) < panelTime
}

// A proposalRoom limits on how many issues a scheduled run begins to propose.
type proposalRoom struct {
	left    int // issues on which the run may still post a comment with proposals
	refused int // issues on which it did not
}

// proposes reports whether the configuration can propose actions.
func (s setup) proposes() bool {
	return s.c.Proposes() || s.o.Agent.Agent != nil && s.c.Policy.Suggestions != policy.SuggestionsOff
}
