// Package harness serves a queue of tasks, and carries out the decisions on them, in your own
// process. It is the harness's half of the queue protocol; the agents' half is package agent.
//
//	Enqueue   an event becomes a task for one of Options.Agents, or for the rules
//	Handler   agents claim tasks, send heartbeats, and send decisions, over HTTP
//	Run       agents are notified of tasks, decisions are carried out, and stale tasks are requeued
//
// The program foremand is built on it. Several Harnesses, in one or in several processes, can share
// a queue: each task is decided on once, and each write is made once, also if a process is killed.
// That needs a queue and a journal that outlast the process, such as those of package store/sqlite.
//
// Issues of owners, members and collaborators are skipped unless Options.Maintainers is set, and so
// are pull requests, and events that Options.Login caused. A person's answer to proposals is handled on
// every issue, without an agent. An agent whose proposals wait gets fewer events of the issue; see
// runner.AgentWaits.
package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/background"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/judging"
	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/triage"
)

// Options configure a Harness. The zero value of a field is usable unless its comment states
// otherwise.
type Options struct {
	Queue queue.Queue // required; [queue.New] returns one that ends with the process
	// Cursors store when a Harness last ran, and since when agents have failed, for all that share
	// the queue. [github.com/org/foreman-action/store/sqlite.Store] has these methods. Nil: they are
	// kept in memory. Then each start extends the claims of agents once.
	Cursors Cursors
	// Slots count the writes of an account for all that share the queue. Nil: this Harness counts its
	// own, and loses the count at its end.
	Slots queue.Slots
	// Pauses are those of the queue: [queue.InMemory] has these methods. A decision that is being carried
	// out when it is paused makes no further write, and continues after the pause. Nil: a pause only keeps
	// decisions from being begun.
	Pauses queue.Pauses

	// Config has the policy, the rules if there are any, and the model that tasks name. Nil: no rules,
	// and the default policy. In mode shadow nothing is written.
	Config *config.Config
	// Host returns the host of a repository, whose Login and Guard are replaced. It is called for each
	// decision, and must be safe for concurrent use. After an error the decision is tried again later.
	// Required, except in mode shadow: without it decisions are planned on the event alone, and nothing is judged.
	Host func(ctx context.Context, repo triage.Repo) (runner.Host, error)
	// Actions are actions of your own, as in [runner.Options]. Nil: none.
	Actions []runner.Action
	// Login is the account under which Host writes. Empty: [runner.DefaultBot].
	Login string
	// Repos are the only repositories, "owner/name", whose events and decisions are accepted. Nil: all
	// that are given to Enqueue.
	Repos []string
	// Agents decide. For an event, the first one that accepts it is asked. None: the rules decide.
	Agents []Agent
	// Memory has the history of issues, for the agents. Nil: tasks have no summary, and decisions to
	// leave something alone for ever are not kept.
	Memory memory.Store
	// Agenda lists the issues with proposals, usually those in Memory, so that proposals in Repos that
	// nobody answered expire, and a missing comment with proposals is posted. Nil: this happens at the
	// next event of the issue. It also lists the issues with earlier actions in Repos, whose outcomes are
	// judged about once an hour; see [runner.Runner.Judge]. Nil: nothing is judged.
	Agenda memory.Agenda
	// Lead runs f while this process leads, for a name, among those that share Memory, so that only one
	// judges actions at a time. [github.com/org/foreman-action/store/sqlite.Store] has this method. Nil:
	// this Harness always leads.
	Lead func(ctx context.Context, name string, f func(context.Context) error) error
	// NoBoxes means that Enqueue gets no edits of comments with their sender, as from polling. Then the
	// comment with the proposals of an issue has no boxes to tick, and people answer by commands.
	NoBoxes bool
	// Journal records each write before and after it is made, so that none is made twice. Required;
	// [memory.NewJournal] forgets it with the process.
	Journal memory.Journal
	// Progress stores each step of a decision in one transaction, if Queue, Slots, Memory and Journal are
	// one database: [github.com/org/foreman-action/store/sqlite.Store] and that of package postgres have
	// this method. It does not call Queue, Slots, Memory and Journal. Nil: the parts of a step are stored
	// separately, one after another.
	Progress store.Progress

	// Credentials are those of the agents, for Handler. Without Credentials and Authenticate, Handler
	// answers only programs on this machine that contact it directly.
	Credentials []Credential
	// Authenticate returns the sender of a request to Handler, in place of Credentials, or an error,
	// which is logged and answered with status 401. It is called concurrently. Nil: Credentials.
	Authenticate func(r *http.Request) (Claimant, error)

	// Maintainers means that issues of owners, members and collaborators are included. Answers to
	// proposals on them always are.
	Maintainers bool
	Limits      Limits
	// Transport sends the requests to agents. Nil: a transport with the settings of
	// http.DefaultTransport.
	Transport http.RoundTripper
	// Observe receives what happens, for metrics. It must be fast, and is called concurrently.
	Observe observe.Func
	// Trace returns the W3C traceparent of a call of Enqueue, or "". Nil: no traces.
	Trace func(ctx context.Context) string
	// Span begins a span for an attempt at a decision, as part of the trace of parent, a W3C
	// traceparent or empty; end finishes it. Nil: no traces.
	Span func(ctx context.Context, parent, task string) (_ context.Context, end func(error))
	Now  func() time.Time // nil: time.Now
	// Log receives warnings, errors and progress; nil: [slog.Default]. Values may contain untrusted text.
	Log *slog.Logger
}

// Cursors store a few bytes under a name, for all that share a queue. Nil bytes mean that nothing is
// stored. Implementations are safe for concurrent use.
type Cursors interface {
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
}

// Limits bound times and numbers. A zero value means the default. Negative values are refused, except
// of Retention.
type Limits struct {
	Claim        time.Duration // how long a claim of an agent lasts without a heartbeat; default [queue.DefaultClaim]
	LongestClaim time.Duration // how long a claim lasts at most, however often it is extended; default: no limit
	Claims       int           // how often a task is handed out to agents before it fails; default 3
	Lease        time.Duration // how long a decision belongs to a Harness that does not renew it, at least a second; default [queue.DefaultLease]
	Tries        int           // how often carrying out a decision is tried before it fails; default 8
	PerMinute    int           // writes of an account within a minute; default 80
	PerHour      int           // writes of an account within an hour; default 500
	TasksPerHour int           // tasks of a repository that become ready within an hour; default: no limit
	Poll         time.Duration // between looks for decisions that no call has announced; default 10 s
	Requeue      time.Duration // between looks for expired claims; default 1 minute
	Retention    time.Duration // how long ended tasks are kept; default 30 days; negative: for ever
}

// An Enqueued is what became of an event.
type Enqueued struct {
	Task   string        // id of the event's task; empty: there is none
	Result queue.Outcome // the queue's result; empty: no task
	Agent  string        // canonical address of the agent that decides; empty: the rules
	Ready  time.Time     // when the task may first be claimed; zero: now, or after Behind has ended
	// Behind is a task of the same issue that must end before; empty: none.
	Behind string
	// Reason is why there is no task; empty if there is one. It may contain untrusted text.
	Reason string
}

// Health is the state of one of the loops of [Harness.Run].
type Health struct {
	Loop  string
	OK    bool
	Stuck bool // it makes no progress, neither with an error nor without one
	// Optional means that tasks do not need the loop: a process in which it is not OK is ready all the same.
	Optional bool
	Reason   string    // why it is not OK; empty if it is OK
	Last     time.Time // of the last progress; zero: none yet
}

// An Outage is an agent that fails: it is not reachable, gives no decisions, or is notified and claims
// no task. Its tasks wait.
type Outage struct {
	Agent  string    // canonical address
	Since  time.Time // of the first failure that this Harness saw
	Reason string    // the last failure; may contain untrusted text
}

// A Harness serves a queue. Its methods are safe for concurrent use.
type Harness struct {
	intake   *intake.Intake
	agents   *api.Server
	services *background.Services
}

// New returns a Harness that does nothing yet. The error names the field of Options that is wrong.
func New(o Options) (*Harness, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	authorize, err := o.authorizer()
	if err != nil {
		return nil, err
	}
	h := &Harness{}
	h.intake, err = intake.New(intake.Options{
		Queue: o.Queue, Routes: o.routes(), Repos: o.Repos, AllRepos: o.Repos == nil, Rules: o.rules(), Memory: o.Memory,
		LLM: o.Config.LLM, Bot: o.Login, Maintainers: o.Maintainers, HourlyLimit: o.Limits.TasksPerHour,
		Trace: o.Trace, Issue: o.issue(), Now: o.Now, Log: logpart.Of(o.Log, logpart.Intake),
	})
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	claims := h.intake.RefreshSummaries(o.Queue)
	l, known := o.Limits, o.known()
	name, _ := os.Hostname() // only used in logs
	take := func(ctx context.Context, repo string, issue int, dedup string) error {
		_, err := h.intake.TakeProposals(ctx, repo, issue, dedup)
		return err
	}
	if o.Config.Mode == config.ModeShadow {
		take = nil // nothing is written, so nothing is proposed
	}
	h.services, err = background.New(background.Options{
		Agenda: o.Agenda, Repos: o.Repos, TakeProposals: take,
		Judging: judging.Options{Runner: o.judge, Lead: o.Lead},
		Queue:   claims, Owner: fmt.Sprintf("%s/%d", name, os.Getpid()), Cursors: o.Cursors,
		ClaimTimeout: l.Claim, Lease: l.Lease, MaxClaims: l.Claims, MaxClaim: l.LongestClaim, MaxTries: l.Tries,
		Now: o.Now, Observe: o.Observe, Log: o.Log,
		Executor: executor.Options{
			Settings: o.settings, Memory: o.Memory, Journal: o.Journal, Slots: o.Slots, Progress: o.Progress, Pauses: o.Pauses, Actions: o.Actions,
			Interval: l.Poll, PerMinute: l.PerMinute, PerHour: l.PerHour, Span: o.Span,
		},
		Dispatch: dispatch.Options{
			Agents:    func(address string) (dispatch.Agent, bool) { a, ok := known[address]; return a, ok },
			Transport: o.Transport,
		},
		Maintenance: maintenance.Options{RequeueInterval: l.Requeue, Retention: l.Retention},
	})
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	h.agents, err = api.NewAgents(api.AgentOptions{
		Queue: claims, Lease: l.Claim, Authorize: authorize, Wake: h.services.Wake, Now: o.Now, Log: logpart.Of(o.Log, logpart.API),
	})
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	return h, nil
}

// Enqueue makes a task of an event: for the first agent that accepts it, or for the rules. When it
// returns without an error, the task is stored, or Enqueued.Reason says why there is none. dedup is
// unique for the event, so that a repetition makes no second task: Key of
// [github.com/org/foreman-action/webhook.Incoming]. Empty: the event is never repeated.
//
// Events of an issue that change nothing but the issue may share a task. The issue of a late event is
// read again from the Host, if an agent gets the task. Errors are those of the queue, such as
// [queue.ErrUnavailable], and of events that no task can be made of.
func (h *Harness) Enqueue(ctx context.Context, d triage.Delivery, dedup string) (Enqueued, error) {
	return h.EnqueueFrom(ctx, queue.Origin{Source: queue.SourceWebhook}, d, dedup)
}

// EnqueueFrom is Enqueue with the origin of the event, which is stored with the task; its Event and an
// empty Trace are set. Only events with the source [queue.SourceWebhook] may share a task, and are
// read again if they are late.
func (h *Harness) EnqueueFrom(ctx context.Context, from queue.Origin, d triage.Delivery, dedup string) (Enqueued, error) {
	got, err := h.intake.Take(ctx, intake.Arrival{Event: d, Origin: from, Dedup: dedup})
	return Enqueued(got), err
}

// Handler returns the handler of the requests of agents: POST /queue/next, /queue/heartbeat,
// /queue/complete and /harness/result. A claim may wait for a task for up to 50 seconds, so the
// WriteTimeout of the http.Server must be longer, or 0. The Handler works without Run: decisions are
// stored then, and carried out by the next Run on the queue.
func (h *Harness) Handler() http.Handler { return h.agents }

// Stop answers the waiting claims, current and later ones, that there is no task, and lets current
// requests end soon. Call it before or during http.Server.Shutdown, such as by RegisterOnShutdown.
func (h *Harness) Stop() { h.agents.Stop() }

// Drain lets the work of this process end before it stops. From now on Handler hands out no task, and Run
// notifies and asks no agent. Claims can still be completed, and Enqueue works as always: other processes
// on the queue, or the next one, go on. Decisions that Run has begun are carried out; if all is true,
// those that it has not begun, too. Drain cannot be undone. It returns at once: see InFlight.
func (h *Harness) Drain(all bool) {
	h.agents.Drain()
	h.services.Drain(all)
}

// InFlight returns how many agents with Sync have not answered this process, and how many decisions it
// carries out. After Drain(false), both remain 0 once they are 0.
func (h *Harness) InFlight() (asked, applying int) { return h.services.InFlight() }

// Run notifies agents, asks those with Sync, carries out decisions, and requeues stale tasks, until
// ctx ends. Then it begins no more writes, lets those that were sent end within 10 seconds, and
// returns nil; the next Run on the queue continues the rest. Failures are logged and
// retried. Call it only once: a second call returns an error.
func (h *Harness) Run(ctx context.Context) error {
	if err := h.services.Run(ctx); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return nil
}

// Health returns the states of all loops, for a readiness check. No loop is OK before Run.
func (h *Harness) Health() []Health {
	var list []Health
	for _, l := range h.services.Health() {
		list = append(list, Health(l))
	}
	return list
}

// Outages returns the agents that fail, sorted. An agent that works again may be listed until its next
// task.
func (h *Harness) Outages() []Outage {
	var list []Outage
	for _, o := range h.services.Outages() {
		list = append(list, Outage(o))
	}
	return list
}

// Unrenewed returns the leases of other processes that were not renewed in time. Their decisions are
// carried out after the leases end.
func (h *Harness) Unrenewed() []queue.ActiveLease { return h.services.Unrenewed() }

// withDefaults returns the options with their defaults, or an error that names the field that is
// wrong.
func (o Options) withDefaults() (Options, error) {
	if o.Config == nil {
		o.Config = &config.Config{}
	}
	switch {
	case o.Queue == nil:
		return o, errors.New("harness: Queue is not set")
	case o.Host == nil && o.Config.Mode != config.ModeShadow:
		return o, errors.New("harness: Host is not set: only mode shadow works without it")
	case o.Journal == nil:
		return o, errors.New("harness: Journal is not set: without it a write could be made twice")
	}
	for _, name := range o.Repos {
		if _, _, ok := protocol.SplitRepo(name); !ok {
			return o, fmt.Errorf("harness: Repos: want owner/name, got %q", name)
		}
	}
	if err := o.Limits.check(); err != nil {
		return o, err
	}
	if _, err := runner.New(runner.Options{Config: o.Config, DryRun: true, Actions: o.Actions}); err != nil {
		return o, fmt.Errorf("harness: %w", err) // otherwise each decision would fail
	}
	o.Limits.Claim = cmp.Or(o.Limits.Claim, queue.DefaultClaim)
	o.Login = cmp.Or(o.Login, runner.DefaultBot)
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Cursors == nil {
		o.Cursors = &cursors{}
	}
	return o.withAgents()
}

// check returns an error that names the limit that is wrong.
func (l Limits) check() error {
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"Claim", int64(l.Claim)}, {"LongestClaim", int64(l.LongestClaim)}, {"Claims", int64(l.Claims)}, {"Lease", int64(l.Lease)},
		{"Tries", int64(l.Tries)}, {"PerMinute", int64(l.PerMinute)}, {"PerHour", int64(l.PerHour)}, {"TasksPerHour", int64(l.TasksPerHour)},
		{"Poll", int64(l.Poll)}, {"Requeue", int64(l.Requeue)},
	} {
		if f.n < 0 {
			return fmt.Errorf("harness: Limits.%s: want 0 or more", f.name)
		}
	}
	if l.Lease != 0 && l.Lease < time.Second {
		return fmt.Errorf("harness: Limits.Lease: want at least a second, got %s", l.Lease)
	}
	return nil
}

// rules returns a function that reports whether the rules listen to an event; nil: there are no rules. An
// edit of a comment counts only if a rule names it, because a rule for all comments does not mean edits.
func (o Options) rules() func(name, action string) bool {
	if o.Config.Rules.Len() == 0 {
		return nil
	}
	named := (*ruleset.Set)(o.Config.Rules).Rules()
	return func(name, action string) bool {
		if name == triage.EventIssueComment && action == "edited" {
			return named.Names(name, action)
		}
		return o.Config.Rules.Listens(name, action)
	}
}

// issue returns the function that reads an issue; nil: there is no host.
func (o Options) issue() func(context.Context, triage.Ref) (triage.Snapshot, error) {
	if o.Host == nil {
		return nil
	}
	return func(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
		host, err := o.Host(ctx, triage.Repo{Owner: ref.Owner, Name: ref.Repo})
		switch {
		case err != nil:
			return triage.Snapshot{}, err
		case host.Issues == nil:
			return triage.Snapshot{}, errors.New("the Host has no Issues")
		}
		return host.Issues.Issue(ctx, ref)
	}
}

// settings returns the settings for the decision of an agent on an issue of a repository. The agent's
// entry in Options decides whether it may close issues, not the one at the time of the event.
func (o Options) settings(ctx context.Context, repo, agent string) (executor.Settings, error) {
	if !o.has(repo) {
		return executor.Settings{}, executor.ErrUnknownRepo
	}
	c, name := *o.Config, ""
	if a, ok := o.agent(repo, agent); ok {
		c.Policy.AllowClose, name = a.AllowClose, o.recordName(a, repo)
	}
	s := executor.Settings{Config: &c, AgentName: name, Identity: strings.ToLower(o.Login), NoBoxes: o.NoBoxes, AcceptedClose: o.mayClose(repo)}
	if o.Host != nil {
		owner, name, _ := strings.Cut(repo, "/")
		var err error
		if s.Host, err = o.Host(ctx, triage.Repo{Owner: owner, Name: name}); err != nil {
			return executor.Settings{}, err
		}
	}
	s.Host.Login, s.Host.LoginSetting = o.Login, cmp.Or(s.Host.LoginSetting, "Login of harness.Options")
	return s, nil
}

// judge returns the Runner that judges the actions of a repository, and the calls that are left to its
// account.
func (o Options) judge(ctx context.Context, repo triage.Repo) (*runner.Runner, func() (left, limit int, ok bool), error) {
	s, err := o.settings(ctx, repo.Owner+"/"+repo.Name, "")
	if err != nil {
		return nil, nil, fmt.Errorf("prepare judging: %w", err)
	}
	calls := func() (left, limit int, ok bool) {
		if s.Host.Search != nil {
			left, ok = s.Host.Search.Budget()
		}
		if l, is := s.Host.Search.(interface{ Limit() int }); is { // the client of package github
			limit = l.Limit()
		}
		return left, limit, ok
	}
	r, err := runner.New(runner.Options{
		Config: s.Config, Host: s.Host, Actions: o.Actions, Memory: runner.Memory{Store: o.Agenda, Agenda: o.Agenda}, Clock: runner.Clock{Now: o.Now},
	})
	return r, calls, err
}
