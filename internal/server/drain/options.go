package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
)

// ErrUnknownRepo is what Options.Settings returns for a repository that is not
// configured: its decisions fail.
var ErrUnknownRepo = errors.New("the repository is not configured")

// Settings are what the decisions on a repository's issues are carried out with.
type Settings struct {
	// Config holds the policy, and the rules if there are any. AllowClose of its policy is
	// that of the agent which decided.
	Config *config.Config
	Host   runner.Host // without Issues only with a Config in mode shadow: nothing is looked up either
	Bot    string      // our login; empty: runner.DefaultBot
	// Identity names the account that writes: GitHub counts the writes of each. What is
	// written under one name shares one rate.
	Identity string
}

// An Agent is who tasks are for.
type Agent struct {
	URL  string // base address as it is configured; userinfo becomes Basic auth
	Sync bool   // the whole task is posted to it, and it answers with the decision
	// Cap is how many tasks it is given at a time; 0: 8. More are left to it to claim.
	Cap     int
	Timeout time.Duration // of the answer of a Sync agent; 0: a minute
}

// Options say what a Drainer works with. The zero value of each field is usable unless
// it says otherwise.
type Options struct {
	Queue queue.Queue // must be set
	// Owner names this process in the queue's log; must be set.
	Owner string
	// Settings returns those of a repository, for the decision of an agent; must be set.
	// agent is empty when nobody was asked. The error is ErrUnknownRepo, or what may pass.
	Settings func(ctx context.Context, repo, agent string) (Settings, error)
	// Agents returns the agent of a canonical address; nil: no agent is told of anything.
	Agents  func(address string) (a Agent, ok bool)
	Memory  memory.Store   // as in runner.Options
	Journal memory.Journal // as in runner.Options
	// Marks keep when a server was last there; all that work on one queue have the same.
	// Nil: they are forgotten with the process, and each start makes claims last longer.
	Marks Marks
	// Slots count the writes of each identity; all that work on one queue have the same.
	// Nil: each process counts its own, and forgets them.
	Slots queue.Slots

	Concurrency     int           // decisions that are carried out at a time; 0: 16
	Interval        time.Duration // between looks at the queue for decisions, should no word come; 0: 10 s
	Lease           time.Duration // of a decision; 0: 2 minutes
	ClaimTimeout    time.Duration // of a claim; 0: 5 minutes
	RequeueInterval time.Duration // 0: 1 minute
	MaxClaims       int           // how often a task is handed out; 0: 3
	MaxDrains       int           // how often it is tried to carry a decision out; 0: 8
	Retention       time.Duration // how long done and failed tasks are kept; 0: 30 days; negative: for ever
	PerMinute       int           // requests of one identity that change something; 0: 80
	PerHour         int           // 0: 500
	// RequestTimeout is the longest that a Host takes for one request; 0: 30 s.
	RequestTimeout time.Duration
	// StopTime is how long a stop waits for what is under way; 0: 10 s.
	StopTime time.Duration

	Transport http.RoundTripper // to agents; nil: a copy of http.DefaultTransport
	Random    func() float64    // from 0 up to 1, to spread what is tried again; nil: math/rand
	// Observe is told what happens, for metrics; nil: nobody is. It must be fast, and is
	// called by several goroutines.
	Observe func(Observation)
	// Span begins a span for carrying out a decision, as part of the trace of parent, a W3C
	// traceparent or empty; end finishes it. Nil: no traces.
	Span func(ctx context.Context, parent, task string) (_ context.Context, end func(error))
	Log  *slog.Logger // nil discards
}

// The events of an Observation.
const (
	Settled  = "settled"  // an attempt to carry a decision out ended; Status says how
	Nudged   = "nudged"   // an agent was told of a task, or asked; Status says how that went
	Requeued = "requeued" // tasks were taken up again, or given up; Status is their state
	Purged   = "purged"   // tasks were deleted
	Stumbled = "stumbled" // a loop failed; Status is its name
)

// An Observation is something that happened.
type Observation struct {
	Event  string
	Status string
	Agent  string // whom it is about; may be empty
	Repo   string // may be empty
	N      int    // how often
	Took   time.Duration
}

// withDefaults returns the options with every field set, or says what is wrong.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Queue == nil:
		return o, errors.New("drain: Queue is not set")
	case o.Settings == nil:
		return o, errors.New("drain: Settings is not set")
	case o.Owner == "":
		return o, errors.New("drain: Owner is not set")
	}
	o.Concurrency = cmp.Or(o.Concurrency, 16)
	o.Interval = cmp.Or(o.Interval, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, 2*time.Minute)
	o.ClaimTimeout = cmp.Or(o.ClaimTimeout, 5*time.Minute)
	o.RequeueInterval = cmp.Or(o.RequeueInterval, time.Minute)
	o.MaxClaims = cmp.Or(o.MaxClaims, 3)
	o.MaxDrains = cmp.Or(o.MaxDrains, 8)
	o.Retention = cmp.Or(o.Retention, 30*24*time.Hour)
	o.PerMinute = cmp.Or(o.PerMinute, 80)
	o.PerHour = cmp.Or(o.PerHour, 500)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 30*time.Second)
	o.StopTime = cmp.Or(o.StopTime, 10*time.Second)
	if o.Transport == nil {
		o.Transport = transport()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Marks == nil {
		o.Marks = &ownMarks{kept: map[string][]byte{}}
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Agents == nil {
		o.Agents = func(string) (Agent, bool) { return Agent{}, false }
	}
	if o.Span == nil {
		o.Span = func(ctx context.Context, _, _ string) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, o.check()
}

func (o Options) check() error {
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"Concurrency", int64(o.Concurrency)},
		{"Interval", int64(o.Interval)},
		{"ClaimTimeout", int64(o.ClaimTimeout)},
		{"RequeueInterval", int64(o.RequeueInterval)},
		{"MaxClaims", int64(o.MaxClaims)},
		{"MaxDrains", int64(o.MaxDrains)},
		{"PerMinute", int64(o.PerMinute)},
		{"PerHour", int64(o.PerHour)},
		{"RequestTimeout", int64(o.RequestTimeout)},
		{"StopTime", int64(o.StopTime)},
	} {
		if f.n <= 0 {
			return fmt.Errorf("drain: %s: want more than 0", f.name)
		}
	}
	if least := 2 * (o.RequestTimeout + margin); o.Lease < least {
		return fmt.Errorf("drain: Lease: want at least %s, twice what a request takes, got %s", least, o.Lease)
	}
	return nil
}

// transport returns the transport to agents when none is given.
func transport() http.RoundTripper {
	t := roundtrip.New()
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}
