package request

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/wait"
)

// maxShort is the maximum size of a short body, in bytes. Events of issues are smaller.
const maxShort = 1 << 20

// A Limiter bounds how many bodies are in memory at the same time.
type Limiter struct {
	short *permits // nil: no limit
	long  *permits // for bodies over maxShort, or of unknown length
}

// NewLimiter returns a Limiter for four long bodies and the given number of short ones; 0:
// any number. now is the clock; nil: time.Now.
func NewLimiter(short int, now func() time.Time) *Limiter {
	l := &Limiter{long: newPermits(4, 5*time.Second, now)}
	if short > 0 {
		l.short = newPermits(short, 2*time.Second, now)
	}
	return l
}

// NewSpoolLimiter returns a Limiter for the given number of short bodies, and 16 long ones, which a
// [Spool] keeps in files. now is the clock; nil: time.Now.
func NewSpoolLimiter(short int, now func() time.Time) *Limiter {
	return &Limiter{short: newPermits(short, 2*time.Second, now), long: newPermits(16, 5*time.Second, now)}
}

// How long a request waits for a permit, and how often it tries to evict a slow body.
const (
	permitTimeout = 3 * time.Second
	evictInterval = 500 * time.Millisecond
)

// Acquire waits for the permit to read the body of a request. The caller calls release when
// it no longer needs the body. The error is of type *response.Error.
func (l *Limiter) Acquire(r *http.Request) (release func(), err error) {
	s := l.long
	if r.ContentLength >= 0 && r.ContentLength <= maxShort {
		s = l.short
	}
	if s == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), permitTimeout)
	defer cancel()
	if !s.acquire(ctx) {
		return nil, &response.Error{
			Status: http.StatusServiceUnavailable, Detail: "too many bodies are being read at the moment; try again",
			Header: http.Header{"Retry-After": {"5"}}, Warning: response.TooManyBodies,
		}
	}
	b, _ := r.Body.(*body)
	return s.hold(b), nil
}

// permits are a number of permits to read bodies. If another request waits, a body is aborted that
// takes longer than grace. Otherwise a few clients that send nothing would block all others.
type permits struct {
	free  *semaphore.Weighted
	grace time.Duration
	now   func() time.Time

	mu      sync.Mutex
	holders []*holder // the oldest first
}

// A holder is a body with a permit.
type holder struct {
	body  *body // nil: cannot be aborted
	since time.Time
}

func newPermits(n int, grace time.Duration, now func() time.Time) *permits {
	return &permits{free: semaphore.NewWeighted(int64(n)), grace: grace, now: wait.Clock(now)}
}

// acquire reports whether it got a permit before ctx ended.
func (s *permits) acquire(ctx context.Context) bool {
	for !s.free.TryAcquire(1) {
		s.evict()
		turn, cancel := context.WithTimeout(ctx, evictInterval)
		err := s.free.Acquire(turn, 1)
		cancel()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return true
}

// hold records the body for which a permit was acquired.
func (s *permits) hold(b *body) (release func()) {
	h := &holder{b, s.now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders = append(s.holders, h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.holders = slices.DeleteFunc(s.holders, func(other *holder) bool { return other == h })
		s.free.Release(1)
	}
}

// evict aborts the oldest body if its grace period is over. Its handler then releases the permit.
// The next call may abort another body.
func (s *permits) evict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.holders) == 0 || s.now().Sub(s.holders[0].since) < s.grace {
		return
	}
	oldest := s.holders[0]
	s.holders = s.holders[1:]
	if oldest.body != nil {
		oldest.body.abort()
	}
}
