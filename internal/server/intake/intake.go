// Package intake makes tasks of events: it finds who is asked, says what was done
// before, and puts the task into the queue.
//
// The webhook and the poller call Take with what they heard of, and get an Outcome that
// tells what became of it. Nothing here calls the service that the issues live on.
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

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Where events come from, as Origin.Source says it.
const (
	SourceWebhook = "webhook"
	SourcePoll    = "poll"
)

// An Origin is what the harness keeps of an event beside the task: queue.Task.Origin is
// its JSON. No agent is told of it.
type Origin struct {
	// Event is the event's name, such as "issues": with it, the payload of the task's
	// message can be read as a triage.Delivery again.
	Event    string `json:"event"`
	Delivery string `json:"delivery,omitempty"` // id of the webhook's delivery; empty: none
	Trace    string `json:"trace,omitempty"`    // a W3C traceparent; empty: nobody follows it
	Source   string `json:"source,omitempty"`   // SourceWebhook or SourcePoll
}

// An Arrival is an event and how it came.
type Arrival struct {
	Event triage.Delivery
	// Origin goes into the task. Its Event may be empty: it is that of the event.
	Origin Origin
	// Dedup is a key of this event that no other one has, such as "webhook:<hash>";
	// empty: it cannot come twice.
	Dedup string
}

// An Outcome is what became of an event.
type Outcome struct {
	Task  string    // id of the task that stands for it; empty: there is none
	How   queue.How // what the queue did; empty: there is no task
	Agent string    // who is asked; empty: nobody
	Ready time.Time // when the task may be handed out first; the zero time: at once, or when Behind has ended
	// Behind is the task of the same issue whose end it waits for; empty: none.
	Behind string
	// Reason says why there is no task; empty if there is one. It may hold hostile text.
	Reason string
}

// A Queue is what Take needs of queue.Queue.
type Queue interface {
	Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error)
}

// A Memory is what Take needs of memory.Store.
type Memory interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
}

// Options say what an Intake works with. The zero value of each field is usable unless
// it says otherwise.
type Options struct {
	Queue  Queue // must be set
	Routes []Route
	// Repos are repositories that are looked after without an agent: by rules alone. Those
	// that routes name need not be among them.
	Repos []string
	// Rules reports whether rules of the server's own look at an event of that name and
	// action; nil: there are none.
	Rules func(name, action string) bool
	// Memory tells what was done before; nil: nobody knows.
	Memory Memory
	// Summarize words it for agents; nil: memory.Summary. It gets what
	// memory.Record.Faded gives.
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)
	LLM       protocol.LLMBackendRef // what tasks name; empty fields become "none"
	Bot       string                 // our own login: what it does is no event; empty: not known
	// Maintainers says that the issues of maintainers are taken too: of owners, members and
	// collaborators.
	Maintainers bool
	// HourlyLimit is how many tasks of a repository become ready within an hour; 0: any
	// number. Those beyond are held back.
	HourlyLimit int
	// Trace returns the W3C traceparent of what ctx belongs to, or nothing; nil: no
	// traces. An Origin that has one keeps it.
	Trace  func(ctx context.Context) string
	Now    func() time.Time // for what has faded in the memory; nil: time.Now
	Random io.Reader        // for the ids of tasks; nil: crypto/rand
	Log    *slog.Logger     // nil discards
}

// An Intake makes tasks of events. It is safe for concurrent use.
type Intake struct {
	o     Options
	repos map[string][]Route // by name in lower case; the routes of a repository in order
}

// New returns an Intake. The error names the route that cannot be used.
func New(o Options) (*Intake, error) {
	if o.Queue == nil {
		return nil, errors.New("intake: Queue is not set")
	}
	if o.Summarize == nil {
		o.Summarize = func(_ context.Context, r memory.Record) (string, bool) { return memory.Summary(r) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
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

// Take enqueues the task of an event. When it returns a task, the task is durable. That
// there is nothing to do is no error: the outcome says why. Errors are those of the queue,
// and that of an event of which no task can be made.
func (t *Intake) Take(ctx context.Context, a Arrival) (Outcome, error) {
	route, reason := t.choose(a.Event)
	if reason != "" {
		t.o.Log.DebugContext(ctx, "event passed over", "event", a.Event.Key(), "repo", a.Event.FullRepo(), "issue", a.Event.Number, "reason", reason)
		return Outcome{Reason: reason}, nil
	}
	task, err := t.task(ctx, a, route)
	if err != nil {
		return Outcome{}, fmt.Errorf("take %s of %s: %w", a.Event.Key(), a.Event.Ref(), err)
	}
	got, err := t.o.Queue.Enqueue(ctx, task)
	if err != nil {
		return Outcome{}, fmt.Errorf("enqueue the task of %s: %w", a.Event.Ref(), err)
	}
	log := t.o.Log.With("task", got.ID, "how", string(got.How), "event", a.Event.Key(),
		"repo", task.Repo, "issue", task.Issue, "agent", task.Agent, "source", a.Origin.Source)
	if !got.Ready.IsZero() {
		log = log.With("held_until", got.Ready)
	}
	if got.Behind != "" {
		log = log.With("behind", got.Behind)
	}
	log.InfoContext(ctx, "task enqueued")
	return Outcome{Task: got.ID, How: got.How, Agent: task.Agent, Ready: got.Ready, Behind: got.Behind}, nil
}

// task returns what is enqueued for an event.
func (t *Intake) task(ctx context.Context, a Arrival, route Route) (queue.Task, error) {
	id, err := protocol.NewTaskID(t.o.Random)
	if err != nil {
		return queue.Task{}, err
	}
	spec := runner.TaskSpec{
		ID:         id,
		LLM:        t.o.LLM,
		Memory:     t.summary(ctx, a.Event),
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
		HourlyLimit: t.o.HourlyLimit,
	}
	if a.Origin.Source == SourceWebhook && joinable(a.Event) {
		task.Coalesce, task.Join = true, join(a.Event, spec)
		if t.o.Rules != nil {
			task.Join = apart // rules look at what happened, one event after the other; an agent at the issue
		}
	}
	return task, nil
}

// summary returns what the agent is told of what was done before; nil: nothing was, or
// nobody can tell.
func (t *Intake) summary(ctx context.Context, e triage.Delivery) *string {
	if t.o.Memory == nil {
		return nil
	}
	record, err := t.o.Memory.Load(ctx, e.FullRepo(), e.Number)
	if err != nil {
		if !errors.Is(err, memory.ErrNotFound) {
			t.o.Log.WarnContext(ctx, "memory cannot be read; the agent is told nothing of it", "repo", e.FullRepo(), "issue", e.Number, "error", err)
		}
		return nil
	}
	text, ok := t.o.Summarize(ctx, record.Faded(t.o.Now()))
	if !ok {
		return nil
	}
	return &text
}
