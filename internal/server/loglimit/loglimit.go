// Package loglimit bounds how often a log repeats a warning that clients can cause.
package loglimit

import (
	"sync"
	"time"
)

// interval is the minimum time between two lines for the same key.
const interval = time.Minute

// maxKeys bounds the memory. While this many keys are stored, new keys are not logged.
const maxKeys = 4096

// sweepInterval is how often a full table is searched for expired keys; doing so at every
// call would make a flood expensive.
const sweepInterval = time.Second

// A Limiter allows one log line a minute for each key. It is safe for concurrent use.
type Limiter struct {
	now func() time.Time

	mu     sync.Mutex
	logged map[string]time.Time
	swept  time.Time
}

// New returns a Limiter on a clock.
func New(now func() time.Time) *Limiter {
	return &Limiter{now: now, logged: map[string]time.Time{}}
}

// Allow reports whether to log a line for the key now. If so, it records the line as logged.
func (l *Limiter) Allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if at, ok := l.logged[key]; ok && now.Sub(at) < interval {
		return false
	}
	if len(l.logged) >= maxKeys && now.Sub(l.swept) >= sweepInterval {
		l.swept = now
		for k, at := range l.logged {
			if now.Sub(at) >= interval {
				delete(l.logged, k)
			}
		}
	}
	if len(l.logged) >= maxKeys {
		return false
	}
	l.logged[key] = now
	return true
}
