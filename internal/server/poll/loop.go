package poll

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/triage"
)

const (
	maxBackoff       = 15 * time.Minute // between polls of a failing repository, or with few calls left
	recentDelay      = 3 * time.Second  // to wait until a recent change is old enough
	maxRateLimitWait = time.Hour        // maximum wait that a response of GitHub can request
)

// A Health is the state of polling of one repository.
type Health struct {
	health.Peer // Open since the first failed poll

	Repo    string
	Success time.Time // time of the last successful poll; zero: none yet
	Waiting int       // postponed issues, which are handled again after their task has ended
	Slowed  bool      // polled seldom, because few calls are left
}

// A repoPoller polls one repository: one poll per interval, with backoff after failures.
type repoPoller struct {
	name     string
	interval time.Duration
	reserve  int
	budget   func() (left int, ok bool)
	sync     *syncer
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error
	random   func() float64
	log      *slog.Logger

	mu     sync.Mutex
	health Health
}

// run polls until ctx ends. Each poll takes a permit.
func (r *repoPoller) run(ctx context.Context, permits chan struct{}, wait time.Duration) {
	for r.sleep(ctx, wait) == nil && ctx.Err() == nil {
		select {
		case permits <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wait = r.poll(ctx)
		<-permits
	}
}

// poll polls once, and returns how long to wait until the next poll.
func (r *repoPoller) poll(ctx context.Context) time.Duration {
	if r.slowDown() {
		r.log.WarnContext(ctx, "few API calls are left in this hour; polling less often, to leave them for writes", "reserve", r.reserve, "wait", maxBackoff)
		return maxBackoff
	}
	res, err := r.attempt(ctx)
	if ctx.Err() != nil {
		return 0
	}
	peer := r.record(res, err)
	switch {
	case err != nil:
		wait := r.jitter(backoff(peer, r.interval, err))
		r.log.WarnContext(ctx, "polling failed", "error", err, "advice", advice(err), "failures", peer.Failures, "wait", wait)
		return wait
	case res.more:
		return 0
	case res.recent:
		return min(recentDelay, r.interval)
	}
	return r.jitter(r.interval)
}

// slowDown reports whether to skip this poll because few calls are left. It never skips two polls
// in a row, because only a response shows that more calls are available again.
func (r *repoPoller) slowDown() bool {
	left, known := r.budget()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.health.Slowed = known && left < r.reserve && !r.health.Slowed
	return r.health.Slowed
}

// attempt polls once. A panic becomes an error.
func (r *repoPoller) attempt(ctx context.Context) (res result, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.log.ErrorContext(ctx, "polling panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("poll %s: panic: %v", r.name, v)
		}
	}()
	return r.sync.poll(ctx)
}

// record updates the health.
func (r *repoPoller) record(res result, err error) health.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if err != nil {
		r.health.Fail(now, now, err.Error())
	} else {
		r.health.Succeed()
		r.health.Success, r.health.Waiting = now, res.postponed
	}
	return r.health.Peer
}

// state returns a copy of the health.
func (r *repoPoller) state() Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.health
	h.Repo = r.name
	return h
}

// jitter changes a duration by up to a tenth.
func (r *repoPoller) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*r.random()))
}

// backoff doubles the interval with each failure, up to a maximum. If GitHub's rate limit requests
// a longer wait, that is used.
func backoff(peer health.Peer, interval time.Duration, err error) time.Duration {
	pause := peer.Pause(interval, max(maxBackoff, interval))
	if limit, ok := errors.AsType[*rest.LimitError](err); ok {
		pause = max(pause, min(limit.Wait, maxRateLimitWait))
	}
	return pause
}

// advice returns what an operator can do about an error.
func advice(err error) string {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "GitHub's name cannot be resolved; check the network, the proxy and identity.api_url"
	}
	if errors.Is(err, triage.ErrLimited) {
		return "the limit of calls is reached; polling continues when GitHub permits more"
	}
	if need, ok := errors.AsType[*triage.PermissionError](err); ok {
		return "the token may not read issues; give it " + need.Need
	}
	switch status := rest.StatusOf(err); {
	case status == http.StatusUnauthorized:
		return "GitHub refuses the token; it may have expired or been revoked: check identity"
	case status == http.StatusForbidden:
		return "GitHub refuses the request; check the token's permissions, and whether it is authorised for the organisation"
	case status >= http.StatusInternalServerError:
		return "GitHub is unavailable; the poll is retried"
	case errors.Is(err, triage.ErrNotFound):
		return "there is no such repository, it was renamed, or the token does not see it; check repos and the token"
	}
	return "the poll is retried"
}
