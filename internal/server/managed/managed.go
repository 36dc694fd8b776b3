// Package managed runs agents in containers: it starts them, supervises them, and removes
// them when the server stops.
package managed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
)

// An Agent is the specification of one container.
type Agent struct {
	Name  string // for the container and the logs: letters, digits, '.', '_' and '-'
	Image string
	// Port is the port on this machine's loopback address for requests to the agent. Inside the
	// container, the agent listens on port 8000.
	Port       int
	URL        string      // identifies the agent in the queue; the agent gets it as AGENT_URL
	HarnessURL secret.Text // the server's address, with the agent's credential
	Env        map[string]secret.Text
	MemoryMB   int     // 0: 512
	CPUs       float64 // 0: 1
	PIDs       int     // 0: 256
	User       string  // number, or "user:group"; empty: the image's
}

// A State is the state of an agent.
type State string

// The states.
const (
	Starting  State = "starting"
	Healthy   State = "healthy"
	Unhealthy State = "unhealthy" // /health is not answered with 200, or the container just exited
	Waiting   State = "waiting"   // the engine cannot run it; the start is retried
	Failed    State = "failed"    // it exited twice, and is not restarted
	Stopped   State = "stopped"
)

// A Status is the state of one agent.
type Status struct {
	Agent    Agent
	State    State
	Reason   string // why it is not healthy; empty if it is. It may contain hostile text.
	Restarts int
}

// ErrNotFound is the error of an [Engine] for a container that does not exist.
var ErrNotFound = errors.New("managed: container not found")

// An Engine runs containers. [Docker] implements it.
type Engine interface {
	// Ping returns nil when the engine answers.
	Ping(ctx context.Context) error
	// RemoveAll removes all containers of an owner, and returns the names of the removed ones, even
	// if there is an error.
	RemoveAll(ctx context.Context, owner string) (names []string, err error)
	// Start creates and starts a container. It pulls a missing image. The caller must remove a
	// container with a non-empty ID, even after an error.
	Start(ctx context.Context, owner string, a Agent) (id string, err error)
	// Wait waits until the container exits, and returns its exit code and the end of its output,
	// which may begin anywhere. After an error other than [ErrNotFound], the container may still be
	// running.
	Wait(ctx context.Context, id string) (code int64, output string, err error)
	// Remove stops and removes a container. A missing container is not an error.
	Remove(ctx context.Context, id string) error
}

// Options are the settings of a Supervisor.
type Options struct {
	Engine Engine // must be set
	Agents []Agent
	// Owner distinguishes the containers of this server from those of other servers on the same
	// engine. It consists of letters and digits; must be set.
	Owner string
	// Health returns nil when the agent at an address is healthy; nil: GET <url>/health must
	// be answered with 200 within 2 s.
	Health func(ctx context.Context, url string) error
	Sleep  func(context.Context, time.Duration) error // nil: sleep for real
	Log    *slog.Logger                               // gets each change of a state; nil discards
}

// A Supervisor runs the agents of one server. Its methods are safe for concurrent use.
type Supervisor struct {
	o      Options
	agents []*supervised
}

// New returns a Supervisor, and starts nothing. The error names missing options.
func New(o Options) (*Supervisor, error) {
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
		o.Health = healthCheck(&http.Client{
			Timeout:       2 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		})
	}
	s := &Supervisor{o: o}
	for _, a := range o.Agents {
		a.MemoryMB, a.CPUs, a.PIDs = cmp.Or(a.MemoryMB, 512), cmp.Or(a.CPUs, 1), cmp.Or(a.PIDs, 256)
		s.agents = append(s.agents, &supervised{o: &s.o, agent: a, state: Starting, reason: "it was not started yet"})
	}
	return s, nil
}

// healthCheck returns the default of [Options.Health].
func healthCheck(c *http.Client) func(context.Context, string) error {
	return func(ctx context.Context, url string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/health", nil)
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

// Statuses returns the status of each agent, in the order of the options.
func (s *Supervisor) Statuses() []Status {
	list := make([]Status, len(s.agents))
	for i, a := range s.agents {
		list[i] = a.status()
	}
	return list
}

// Run starts and supervises the agents until ctx ends. Then it removes them, and returns nil. The
// server must already listen, because agents may claim tasks at once. A failed agent or an
// unavailable engine does not end Run; see [Supervisor.Statuses].
func (s *Supervisor) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	if len(s.agents) > 0 && s.removeOld(ctx) {
		for _, a := range s.agents {
			wg.Go(func() { a.run(ctx) })
		}
	}
	<-ctx.Done()
	wg.Wait()
	return nil
}

// removeOld removes the containers of an earlier run. It tries until the engine answers, and
// reports whether it succeeded before ctx ended.
func (s *Supervisor) removeOld(ctx context.Context) bool {
	for tries := 0; ; tries++ {
		names, err := s.o.Engine.RemoveAll(ctx, s.o.Owner)
		for _, name := range names {
			s.o.Log.Warn("container of an earlier run removed", "container", name)
		}
		if err == nil {
			return true
		}
		for _, a := range s.agents {
			a.set(Waiting, fmt.Sprintf("the containers of an earlier run cannot be removed: %v", err))
		}
		if s.o.Sleep(ctx, backoff(tries)) != nil {
			return false
		}
	}
}
