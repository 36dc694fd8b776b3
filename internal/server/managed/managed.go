// Package managed runs agents in containers: it starts them, watches over them, and
// removes them when the server stops.
package managed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
)

// An Agent is one container.
type Agent struct {
	Name  string // for the container and the logs: letters, digits, '.', '_' and '-'
	Image string
	// Port is the port on this machine's loopback under which the agent is reached; the
	// agent itself listens on port 8000.
	Port       int
	URL        string      // what the agent is told to be: the address that its tasks are kept under
	HarnessURL secret.Text // where the agent finds the server, with its credential
	Env        map[string]secret.Text
	MemoryMB   int     // 0: 512
	CPUs       float64 // 0: 1
	PIDs       int     // 0: 256
	User       string  // number, or "user:group"; empty: the image's
}

// A State says how an agent is.
type State string

// The states.
const (
	Starting  State = "starting"
	Healthy   State = "healthy"
	Unhealthy State = "unhealthy" // it does not answer /health with 200, or has just ended
	Waiting   State = "waiting"   // the engine does not run it now, and is asked again
	Failed    State = "failed"    // it ended twice; nothing restarts it
	Stopped   State = "stopped"
)

// A Status tells of one agent.
type Status struct {
	Agent    Agent
	State    State
	Reason   string // why it is not healthy; empty if it is. It may hold hostile text.
	Restarts int
}

// ErrGone says that there is no such container.
var ErrGone = errors.New("managed: the container is gone")

// An Engine runs containers.
type Engine interface {
	// Ready returns nil when the engine answers.
	Ready(ctx context.Context) error
	// Clear removes the containers that an earlier process of this owner left behind, and
	// returns their names.
	Clear(ctx context.Context, owner string) ([]string, error)
	// Start makes and starts a container; an image that is missing is pulled.
	Start(ctx context.Context, owner string, a Agent) (id string, err error)
	// Wait returns when the container has ended, with its exit code and the end of its
	// output, whose beginning may be cut anywhere. An error says that the engine lost sight
	// of it: [ErrGone], that there is no such container any more.
	Wait(ctx context.Context, id string) (code int64, output string, err error)
	// Remove stops and removes a container. That there is none is no error.
	Remove(ctx context.Context, id string) error
}

// Options say what a Fleet works with.
type Options struct {
	Engine Engine // must be set
	Agents []Agent
	// Owner tells the containers of this server from those of another one on the same
	// engine: letters and digits.
	Owner string
	// Health returns nil when the agent at an address is well; nil: GET <url>/health is
	// answered with 200 within 2 s.
	Health func(ctx context.Context, url string) error
	Sleep  func(context.Context, time.Duration) error // nil: real
	Log    *slog.Logger                               // gets each change of a state; nil discards
}

// A Fleet is the agents of one server. Its methods are safe for concurrent use.
type Fleet struct {
	o    Options
	mu   sync.Mutex
	list []Status
}

// New returns a Fleet; nothing runs yet. The error says which option is missing.
func New(o Options) (*Fleet, error) {
	if o.Engine == nil || o.Owner == "" {
		return nil, errors.New("managed: Engine and Owner must be set")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Sleep == nil {
		o.Sleep = wait.For
	}
	if o.Health == nil {
		o.Health = health(&http.Client{
			Timeout:       2 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		})
	}
	f := &Fleet{o: o}
	for _, a := range o.Agents {
		a.MemoryMB, a.CPUs, a.PIDs = cmp.Or(a.MemoryMB, 512), cmp.Or(a.CPUs, 1), cmp.Or(a.PIDs, 256)
		f.list = append(f.list, Status{Agent: a, State: Starting, Reason: "it was not started yet"})
	}
	return f, nil
}

// health asks an agent how it is.
func health(c *http.Client) func(context.Context, string) error {
	return func(ctx context.Context, at string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/health", nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("/health was answered with %s", resp.Status)
		}
		return nil
	}
}

// Statuses returns how the agents are, in the order of the options.
func (f *Fleet) Statuses() []Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// The times between two looks at an agent: while it starts, and once it was well.
const (
	startEvery  = time.Second
	healthEvery = 15 * time.Second
	// patience is how many looks an agent may take to start before it is called unhealthy.
	// It is not stopped then: an agent may work off what waits before it serves.
	patience = 30
)

// watch looks at an agent until its container ends.
func (f *Fleet) watch(ctx context.Context, i int, a Agent) {
	at := fmt.Sprintf("http://127.0.0.1:%d", a.Port)
	was, every := false, startEvery
	for look := 1; ; look++ {
		err := f.o.Health(ctx, at)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			was, every = true, healthEvery
			f.set(i, Healthy, "")
		case was || look >= patience:
			every = min(every*2, healthEvery)
			f.set(i, Unhealthy, err.Error())
		}
		if f.o.Sleep(ctx, every) != nil {
			return
		}
	}
}

// set changes the state of an agent.
func (f *Fleet) set(i int, s State, reason string) {
	f.mu.Lock()
	old := f.list[i]
	f.list[i].State, f.list[i].Reason = s, reason
	status := f.list[i]
	f.mu.Unlock()
	if old.State == s && (old.Reason == reason || s == Unhealthy) {
		return
	}
	level := slog.LevelInfo
	switch {
	case s == Failed:
		level = slog.LevelError
	case s == Unhealthy, s == Waiting, status.Restarts > old.Restarts, s == Starting:
		level = slog.LevelWarn
	}
	f.o.Log.Log(context.Background(), level, "managed agent", "agent", status.Agent.Name, "state", string(s), "reason", reason, "restarts", status.Restarts)
}
