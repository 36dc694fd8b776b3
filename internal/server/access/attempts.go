package access

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
)

// The rates of guesses. A guess is a wrong secret, or a short right one that its address has not
// used within a day. Both use up the rates, because only the answer tells them apart.
// Otherwise the rates would not bound how fast a short secret can be guessed.
const (
	MaxFailures      = 10 // guesses of an address that are answered at once
	failuresOfAll    = 600
	guessesOfAddress = 8  // a second, after MaxFailures
	guessesOfAll     = 64 // a second, after failuresOfAll
)

// LongSecret is the length in bytes from which a right secret is accepted at once, even while many
// wrong ones are tried.
const LongSecret = secret.Long

const (
	// MaxWait is how long a guess waits at most for the rates. It is less than api.stopTimeout.
	MaxWait = 10 * time.Second
	// RetryWait is how long a client with a wrong secret is asked to pause after it exceeded a rate.
	RetryWait = time.Minute
	pollTime  = 100 * time.Millisecond

	provenAge  = 24 * time.Hour // how long an address is trusted after a right secret
	maxProven  = 4096
	maxLimited = 2048 // addresses, before those that may again guess at once are forgotten
)

// Attempts bounds how fast secrets can be guessed, by address and for all addresses together. A
// right secret is accepted at once if it is long, or if the same address used it within a day. Each
// other secret waits until the rates permit a guess. Attempts is safe for concurrent use.
type Attempts struct {
	now func() time.Time

	mu      sync.Mutex
	all     *rate.Limiter
	limited map[string]*rate.Limiter // by address; no limiter: the address may guess MaxFailures times at once
	proven  map[proof]time.Time
}

// A proof is an address with the name of the credential that it used.
type proof struct{ addr, name string }

// NewAttempts returns Attempts without failures. now is its clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{
		now: now, all: rate.NewLimiter(guessesOfAll, failuresOfAll),
		limited: map[string]*rate.Limiter{}, proven: map[proof]time.Time{},
	}
}

// A Try is the secret of one request.
type Try struct {
	Addr  string // where it came from, see [ClientAddr]
	Right string // name of the matching credential; empty: the secret is wrong
	Long  bool   // it has at least LongSecret bytes
}

// Judge reports whether a secret is accepted. If not, it returns how long the sender must wait
// before the next try; 0: no wait. After too many guesses, Judge itself waits until the rates permit
// one more. If they do not permit it within MaxWait, or before ctx ends, the secret is not accepted.
func (a *Attempts) Judge(ctx context.Context, t Try) (right bool, pause time.Duration) {
	if t.Right != "" && (t.Long || a.known(t)) {
		return a.prove(t), 0
	}
	ctx, cancel := context.WithTimeout(ctx, MaxWait)
	defer cancel()
	for !a.guess(t.Addr) {
		pause = RetryWait
		// A random time, so that a right secret among many guesses is judged after a few tries.
		if wait.For(ctx, pollTime/2+rand.N(2*pollTime)) != nil { //nolint:gosec // the order is not a secret
			return false, pause
		}
	}
	if t.Right == "" {
		return false, pause
	}
	return a.prove(t), 0
}

// guess reports whether the rates permit a guess of an address now. If so, it counts the guess.
func (a *Attempts) guess(addr string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.all.TokensAt(now) < 1 {
		return false
	}
	l := a.limited[addr]
	if l == nil {
		a.forget(now)
		l = rate.NewLimiter(guessesOfAddress, MaxFailures)
		a.limited[addr] = l
	}
	return l.AllowN(now, 1) && a.all.AllowN(now, 1)
}

// forget drops the addresses that may again guess MaxFailures times at once, when there are many.
// Only a guess adds an address, so there are never more than the rates for all addresses permit.
func (a *Attempts) forget(now time.Time) {
	if len(a.limited) < maxLimited {
		return
	}
	for addr, l := range a.limited {
		if l.TokensAt(now) >= MaxFailures {
			delete(a.limited, addr)
		}
	}
}

// known reports whether the address used the credential within a day.
func (a *Attempts) known(t Try) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.proven[proof{t.Addr, t.Right}]
	return ok && a.now().Sub(at) < provenAge
}

// prove records that a right secret came from an address, and returns true. If there are too many
// records, it drops the oldest.
func (a *Attempts) prove(t Try) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := proof{t.Addr, t.Right}
	if _, ok := a.proven[k]; !ok && len(a.proven) >= maxProven {
		oldest := k
		for other, at := range a.proven {
			if oldest == k || at.Before(a.proven[oldest]) {
				oldest = other
			}
		}
		delete(a.proven, oldest)
	}
	a.proven[k] = a.now()
	return true
}
