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
	"github.com/org/foreman-action/triage"
)

const (
	slowest   = 15 * time.Minute // between two tries at a repository that fails, or with few calls left
	soon      = 3 * time.Second  // until what changed just now is old enough
	longest   = time.Hour        // that GitHub is believed it wants to be left alone
	maxShifts = 16               // that a wait is doubled
)

// A follower polls one repository. Its fields but health are of the one goroutine that
// runs it.
type follower struct {
	o      *Options
	source Source
	ref    triage.Ref // its number is 0
	name   string
	cursor string // its name
	key    string // the beginning of all dedup keys
	log    *slog.Logger

	saved  []byte              // the cursor as it was saved or loaded last
	asked  map[question]answer // what GitHub answered at the last poll
	using  map[question]answer // and what of it this poll has asked again
	date   time.Time           // of GitHub's clock, when it answered last
	recent bool                // this poll met something that changed just now

	mu     sync.Mutex
	health Health
}

// follow polls until ctx ends.
func (p *Poller) follow(ctx context.Context, f *follower, wait time.Duration) {
	for p.o.Sleep(ctx, wait) == nil && ctx.Err() == nil {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wait = f.turn(ctx)
		<-p.slots
	}
}

// A result says how a poll went that did not fail.
type result struct {
	more      bool // there is more to be read now
	unsettled bool // something changed just now
	waiting   int
}

// turn polls once, and returns how long to wait.
func (f *follower) turn(ctx context.Context) time.Duration {
	if f.short() {
		f.log.WarnContext(ctx, "few calls are left in this hour: polling slows down, so that writes go on", "reserve", f.o.Reserve, "wait", slowest)
		return slowest
	}
	res, err := f.attempt(ctx)
	if ctx.Err() != nil {
		return 0
	}
	failures := f.note(res, err)
	if err != nil {
		wait := f.pause(err, failures)
		f.log.WarnContext(ctx, "polling failed", "error", err, "advice", advice(err), "failures", failures, "wait", wait)
		return wait
	}
	switch {
	case res.more:
		return 0
	case res.unsettled:
		return min(soon, f.o.Interval)
	}
	return f.jitter(f.o.Interval)
}

// short reports whether this poll is to be put off because few calls are left. The next
// one is not, or nothing would tell that there are more again.
func (f *follower) short() bool {
	left, known := f.source.Budget()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.health.Slowed = known && left < f.o.Reserve && !f.health.Slowed
	return f.health.Slowed
}

// attempt polls once; a panic is an error.
func (f *follower) attempt(ctx context.Context) (res result, err error) {
	defer func() {
		if v := recover(); v != nil {
			f.log.ErrorContext(ctx, "polling panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("poll %s: panic: %v", f.name, v)
		}
	}()
	return f.poll(ctx)
}

// note keeps how a poll went, and returns how many failed since one that did not.
func (f *follower) note(res result, err error) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.health.Failures, f.health.Err = f.health.Failures+1, err.Error()
		return f.health.Failures
	}
	f.health.Failures, f.health.Err = 0, ""
	f.health.Success, f.health.Waiting = f.o.Now(), res.waiting
	return 0
}

// pause is how long to wait after a failure.
func (f *follower) pause(err error, failures int) time.Duration {
	wait := f.o.Interval << min(failures-1, maxShifts)
	if wait <= 0 || wait > slowest {
		wait = max(slowest, f.o.Interval)
	}
	if limit, ok := errors.AsType[*rest.LimitError](err); ok {
		wait = max(wait, min(limit.Wait, longest))
	}
	return f.jitter(wait)
}

// jitter makes a wait up to a tenth longer or shorter.
func (f *follower) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*f.o.Random()))
}

// advice says what to do about an error.
func advice(err error) string {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "GitHub's name cannot be resolved; check the network, the proxy and identity.api_url"
	}
	if limited(err) {
		return "the limit of calls is spent; it goes on when GitHub gives more"
	}
	if need, ok := errors.AsType[*triage.PermissionError](err); ok {
		return "the token may not read issues; give it " + need.Need
	}
	switch status := rest.StatusOf(err); {
	case status == http.StatusUnauthorized:
		return "GitHub refuses the token; it may have run out or been revoked: check identity"
	case status == http.StatusForbidden:
		return "GitHub refuses it; check what the token may do, and whether it is authorised for the organisation"
	case status >= http.StatusInternalServerError:
		return "GitHub has trouble; it is tried again"
	case errors.Is(err, triage.ErrNotFound):
		return "there is no such repository, it was renamed, or the token does not see it; check repos and the token"
	}
	return "it is tried again"
}

func limited(err error) bool { return errors.Is(err, triage.ErrLimited) }
