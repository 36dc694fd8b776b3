package managed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

const (
	maxRestarts     = 1               // how often a container is restarted after an exit
	restartDelay    = 2 * time.Second // from the exit to the restart
	maxBackoff      = time.Minute     // maximum time between two tries of a failed call to the engine
	removeTimeout   = 20 * time.Second
	startupInterval = time.Second // between health checks until the first that succeeds
	healthInterval  = 15 * time.Second
	// startupChecks is how many health checks may fail before a new agent counts as unhealthy. It is
	// not restarted even then, because it may process pending tasks before it listens.
	startupChecks = 30
)

// backoff returns the delay after n earlier failures of the engine in a row.
func backoff(n int) time.Duration { return wait.Backoff(n, restartDelay, maxBackoff) }

// A supervised is an agent with its state.
type supervised struct {
	o     *Options
	agent Agent

	mu       sync.Mutex // guards the following
	state    State
	reason   string
	restarts int
}

func (s *supervised) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Agent: s.agent, State: s.state, Reason: s.reason, Restarts: s.restarts}
}

// set changes the state and logs the change. While an agent is unhealthy, a change of the reason alone
// is not logged.
func (s *supervised) set(state State, reason string) {
	s.mu.Lock()
	same := s.state == state && (s.reason == reason || state == Unhealthy)
	s.state, s.reason = state, reason
	restarts := s.restarts
	s.mu.Unlock()
	if same {
		return
	}
	level := slog.LevelInfo
	switch state {
	case Failed:
		level = slog.LevelError
	case Starting, Unhealthy, Waiting:
		level = slog.LevelWarn
	case Healthy, Stopped:
	}
	s.o.Log.Log(context.Background(), level, "managed agent", "agent", s.agent.Name, "state", string(state), "reason", reason, "restarts", restarts)
}

// run keeps the agent running until ctx ends or the agent has failed. Only an exit of the agent
// itself counts as a restart. Failures of the engine are retried for ever.
func (s *supervised) run(ctx context.Context) {
	defer func() {
		if ctx.Err() != nil {
			s.set(Stopped, "the server was stopped")
		}
	}()
	for failures := 0; ctx.Err() == nil; {
		reason, err := s.runContainer(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.set(Waiting, err.Error())
			if s.o.Sleep(ctx, backoff(failures)) != nil {
				return
			}
			failures++
			continue
		}
		failures = 0
		s.set(Unhealthy, reason)
		if s.o.Sleep(ctx, restartDelay) != nil {
			return
		}
		// If the engine itself stops, it ends its containers and does not answer. That is not the
		// agent's failure.
		if err := s.o.Engine.Ping(ctx); err != nil && ctx.Err() == nil {
			s.set(Waiting, fmt.Sprintf("the engine does not answer: %v", err))
			continue
		}
		if s.status().Restarts == maxRestarts {
			s.set(Failed, reason)
			return
		}
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
		s.set(Starting, reason+"; restarting")
	}
}

// runContainer runs one container until it exits, and returns why. An error means that
// the engine failed.
func (s *supervised) runContainer(ctx context.Context) (reason string, err error) {
	id, err := s.o.Engine.Start(ctx, s.o.Owner, s.agent)
	if id != "" {
		defer func() {
			// Remove it even if ctx ended because the server stops.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
			defer cancel()
			if err := s.o.Engine.Remove(ctx, id); err != nil {
				s.o.Log.Error("removing a container failed", "agent", s.agent.Name, "error", err)
			}
		}()
	}
	if err != nil {
		return "", err
	}
	if s.status().State == Waiting {
		s.set(Starting, "the engine started it")
	}
	checks, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.checkHealth(checks) })
	defer wg.Wait()
	defer stop()
	return s.waitForExit(ctx, id)
}

// waitForExit returns why a container exited. If the engine fails, waitForExit tries again. If the
// container then turns out to have exited, the engine may be the cause, so that is an error.
func (s *supervised) waitForExit(ctx context.Context, id string) (reason string, err error) {
	for tries := 0; ; tries++ {
		code, output, err := s.o.Engine.Wait(ctx, id)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		switch {
		case err == nil && tries > 0, errors.Is(err, ErrNotFound):
			return "", errors.New("it ended while the engine did not answer, or another program removed it")
		case err == nil:
			reason = fmt.Sprintf("it ended with exit code %d", code)
			if output = s.agent.redactedEnd(output); output != "" {
				reason += ": " + output
			}
			return reason, nil
		}
		s.o.Log.Warn("waiting for the container of a managed agent failed; retrying", "agent", s.agent.Name, "error", err)
		if err := s.o.Sleep(ctx, backoff(tries)); err != nil {
			return "", err
		}
	}
}

// checkHealth sets the state by health checks until ctx ends.
func (s *supervised) checkHealth(ctx context.Context) {
	url := fmt.Sprintf("http://127.0.0.1:%d", s.agent.Port)
	started, interval := false, startupInterval
	for checks := 1; ; checks++ {
		err := s.o.Health(ctx, url)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			started, interval = true, healthInterval
			s.set(Healthy, "")
		case started || checks >= startupChecks:
			interval = min(interval*2, healthInterval)
			s.set(Unhealthy, err.Error())
		}
		if s.o.Sleep(ctx, interval) != nil {
			return
		}
	}
}
