// Package intake turns events into tasks: it chooses the agent, adds a summary of earlier actions
// on the issue, and enqueues the task.
//
// A Webhook receives events over HTTP. The poller of package poll finds events by itself. Both call
// Take and get an Outcome. This package calls GitHub only through Options.Issue.
package intake

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An Arrival is an event and where it came from.
type Arrival struct {
	Event triage.Delivery
	// Origin is stored with the task, and not sent to agents. Take sets its Event.
	Origin queue.Origin
	// Dedup is a key that is unique for the event, such as "webhook:<hash>"; empty: the event is
	// never repeated.
	Dedup string
}

// An Outcome is the result of taking an event.
type Outcome struct {
	Task   string        // id of the event's task; empty: there is none
	Result queue.Outcome // the queue's result; empty: no task
	Agent  string        // address of the agent that decides; empty: none
	Ready  time.Time     // when the task may first be claimed; zero: now, or after Behind has ended
	// Behind is a task of the same issue that must end before this task can be claimed; empty: none.
	Behind string
	// Reason is why there is no task; empty if there is one. It may contain hostile text.
	Reason string
}

// A Queue is the part of queue.Queue that Take uses.
type Queue interface {
	Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error)
	Duplicate(ctx context.Context, dedup string) (queue.Enqueued, error)
}

// A Memory is the part of memory.Store that Take uses.
type Memory interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
}

// Options configure an Intake. The zero value of each field is usable unless it is required.
type Options struct {
	Queue  Queue // required
	Routes []Route
	// Repos are repositories without an agent, for which only rules decide. Repositories in Routes
	// need not be listed.
	Repos    []string
	AllRepos bool // events of all repositories are accepted
	// Rules reports whether the server's rules apply to events with that name and action; nil: there
	// are no rules.
	Rules func(name, action string) bool
	// Memory has the history of issues; nil: tasks have no summary.
	Memory Memory
	// Summarize renders a record for agents. The record has passed memory.Record.Faded; nil:
	// memory.Summary.
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)
	LLM       protocol.LLMBackendRef // for tasks; empty fields become "none"
	Bot       string                 // our own login, whose events are ignored; empty: not known
	// Maintainers means that issues of owners, members and collaborators are included. Answers to
	// proposals on them always are.
	Maintainers bool
	// HourlyLimit is how many tasks of a repository may become ready per hour. Further tasks are
	// delayed. 0: no limit.
	HourlyLimit int
	// Trace returns the W3C traceparent of ctx, or ""; nil: no
	// traces.
	Trace func(ctx context.Context) string
	// Issue returns the current issue. It is called for late deliveries to a webhook, such as
	// repeated ones, if an agent gets the task; nil: never.
	Issue  func(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	Now    func() time.Time // nil: time.Now
	Random io.Reader        // for the ids of tasks; nil: crypto/rand
	Log    *slog.Logger     // nil discards
}

// An Intake makes tasks of events. It is safe for concurrent use.
type Intake struct {
	o     Options
	repos map[string][]Route // by name in lower case; the routes of a repository in order
}

// New returns an Intake. The error names the invalid option or route.
func New(o Options) (*Intake, error) {
	if o.Queue == nil {
		return nil, errors.New("intake: Queue is not set")
	}
	if o.Summarize == nil {
		o.Summarize = func(_ context.Context, r memory.Record) (string, bool) { return memory.Summary(r) }
	}
	o.Now = wait.Clock(o.Now)
	o.Random = cmp.Or[io.Reader](o.Random, rand.Reader)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	repos, err := byRepo(o.Routes, o.Repos)
	if err != nil {
		return nil, fmt.Errorf("intake: %w", err)
	}
	return &Intake{o: o, repos: repos}, nil
}

// Take enqueues the task of an event. The returned task is stored durably. If the event needs no
// task, the Outcome contains the reason, and the error is nil. An error is from the queue, or means
// that no task can be made of the event.
func (t *Intake) Take(ctx context.Context, a Arrival) (_ Outcome, err error) {
	route, reason := t.route(ctx, a.Event)
	var record *memory.Record
	if reason == "" {
		record = t.record(ctx, a.Event)
		route, reason = t.unlessAnswered(a, route, record)
	}
	if reason != "" {
		t.o.Log.DebugContext(ctx, "event skipped", "event", a.Event.Key(), "repo", a.Event.FullRepo(), "issue", a.Event.Number, "reason", reason)
		return Outcome{Reason: reason}, nil
	}
	if a.Event, err = t.current(ctx, a, route); err != nil {
		t.o.Log.WarnContext(ctx, "late event skipped, because its issue cannot be read any more", "event", a.Event.Key(), "repo", a.Event.FullRepo(), "issue", a.Event.Number, "error", err)
		return Outcome{Reason: err.Error()}, nil
	}
	task, err := t.task(ctx, a, route, record)
	if err != nil {
		return Outcome{}, fmt.Errorf("take %s of %s: %w", a.Event.Key(), a.Event.Ref(), err)
	}
	return t.enqueue(ctx, task, a.Event.Key(), a.Origin.Source)
}

// enqueue enqueues a task. event and source are for the log.
func (t *Intake) enqueue(ctx context.Context, task queue.Task, event, source string) (Outcome, error) {
	got, err := t.o.Queue.Enqueue(ctx, task)
	if err != nil {
		return Outcome{}, fmt.Errorf("enqueue the task of %s#%d: %w", task.Repo, task.Issue, err)
	}
	log := t.o.Log.With("task", got.ID, "how", string(got.Outcome), "event", event,
		"repo", task.Repo, "issue", task.Issue, "agent", task.Agent, "source", source)
	if !got.Ready.IsZero() {
		log = log.With("held_until", got.Ready)
	}
	if got.Behind != "" {
		log = log.With("behind", got.Behind)
	}
	log.DebugContext(ctx, "task enqueued")
	return Outcome{Task: got.ID, Result: got.Outcome, Agent: task.Agent, Ready: got.Ready, Behind: got.Behind}, nil
}

// issueTimeout is how long a delivery waits for its issue. GitHub waits 10 seconds for the answer.
const issueTimeout = 5 * time.Second

// current returns an event, with the current issue if the event is late and an agent will get it.
// Rules read the issue when the decision is carried out. If the issue cannot be read, the event is
// unchanged. The error means that the issue is gone.
func (t *Intake) current(ctx context.Context, a Arrival, route Route) (triage.Delivery, error) {
	now, e := t.o.Now(), a.Event
	if t.o.Issue == nil || route.URL == "" || a.Origin.Source != queue.SourceWebhook || !e.Late(now) {
		return e, nil
	}
	if a.Dedup != "" { // a repeated delivery needs no issue, because Enqueue refuses the delivery
		if _, err := t.o.Queue.Duplicate(ctx, a.Dedup); err == nil {
			return e, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, issueTimeout)
	defer cancel()
	issue, err := t.o.Issue(ctx, e.Ref())
	switch {
	case errors.Is(err, triage.ErrGone):
		return e, triage.ErrGone
	case err != nil:
		t.o.Log.WarnContext(ctx, "issue unavailable; the task of a late event contains the issue in the event",
			"repo", e.FullRepo(), "issue", e.Number, "error", err)
		return e, nil
	}
	e.At, e.Fetched = e.Time(), now
	return e.WithIssue(issue), nil
}

// task returns the task for an event. record is as Intake.record returns it.
func (t *Intake) task(ctx context.Context, a Arrival, route Route, record *memory.Record) (queue.Task, error) {
	id, err := protocol.NewTaskID(t.o.Random)
	if err != nil {
		return queue.Task{}, err
	}
	spec := runner.TaskSpec{
		ID:         id,
		LLM:        t.o.LLM,
		Memory:     t.summary(ctx, record),
		AllowClose: route.AllowClose,
	}
	m, err := runner.Task(a.Event, spec)
	if err != nil {
		return queue.Task{}, err
	}
	message, err := protocol.Encode(m)
	if err != nil {
		return queue.Task{}, err
	}
	a.Origin.Event = a.Event.Name
	if a.Origin.Trace == "" && t.o.Trace != nil {
		a.Origin.Trace = t.o.Trace(ctx)
	}
	origin, err := json.Marshal(a.Origin)
	if err != nil {
		return queue.Task{}, err
	}
	task := queue.Task{
		ID:          id,
		Agent:       route.URL,
		Repo:        a.Event.FullRepo(),
		Issue:       a.Event.Number,
		Message:     message,
		Origin:      origin,
		Dedup:       a.Dedup,
		Delivery:    queue.CleanText(a.Origin.Delivery),
		HourlyLimit: t.o.HourlyLimit,
	}
	if a.Event.Issue != nil {
		task.Title = a.Event.Issue.Title
	}
	if a.Origin.Source == queue.SourceWebhook && joinable(a.Event) {
		task.Coalesce, task.Join = true, join(a.Event, spec)
		if t.o.Rules != nil {
			task.Join = neverJoin // rules need each event, while agents only need the current issue
		}
	}
	return task, nil
}

// record returns the memory of an event's issue, which may be empty; nil: it is not available.
func (t *Intake) record(ctx context.Context, e triage.Delivery) *memory.Record {
	if t.o.Memory == nil {
		return &memory.Record{}
	}
	record, err := t.o.Memory.Load(ctx, e.FullRepo(), e.Number)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return &memory.Record{}
	case err != nil:
		t.o.Log.WarnContext(ctx, "memory unavailable; the task is enqueued without a summary", "repo", e.FullRepo(), "issue", e.Number, "error", err)
		return nil
	}
	return &record
}

// summary renders a record for agents. It returns nil if there is nothing in it.
func (t *Intake) summary(ctx context.Context, record *memory.Record) *string {
	if record == nil {
		return nil
	}
	return t.summarize(ctx, *record)
}

// summarize renders a record for agents. It returns nil if there is nothing in it.
func (t *Intake) summarize(ctx context.Context, r memory.Record) *string {
	text, ok := t.o.Summarize(ctx, r.Faded(t.o.Now()))
	if !ok {
		return nil
	}
	return &text
}
