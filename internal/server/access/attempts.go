package access

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
)

// MaxFailures is how many wrong secrets an address may try under one name within a Window. After
// that, until the window ends, each further secret must wait for a turn. So neither an early
// disconnect nor many requests at once reveal sooner whether a guess is right. Two kinds of right
// secrets need no turn: those that the same address used within a day, and those that are too long
// to be guessed.
const (
	MaxFailures = 10
	Window      = time.Minute
	Pause       = time.Second // how long a turn lasts
)

// LongSecret is the length in bytes from which a right secret is accepted at once, even while many
// wrong ones are tried.
const LongSecret = secret.Long

const (
	maxTotal       = 600              // wrong secrets of all senders within a window, before all wait for turns
	turnsOfAddress = 8                // of one address, at the same time, so also per second
	turnsOfAll     = 64               // at the same time
	maxWait        = 10 * time.Second // for a turn; less than api.stopTimeout
	provenAge      = 24 * time.Hour   // how long an address is trusted after a right secret
)

// maxSenders bounds the memory. If there are more senders, those with the fewest failures are
// dropped first. So a guesser is only dropped after as many failures under thousands of other
// names.
const maxSenders = 4096

// Attempts counts wrong secrets by address and name, and bounds how fast secrets can be guessed. A
// right secret is accepted at once if it is long, or if the same address used it within a day.
// After too many failures, a short secret that is new from its address waits for a turn, and is
// refused while too many guesses wait. Attempts is safe for concurrent use.
type Attempts struct {
	now   func() time.Time
	turns chan struct{} // one element for each turn in use

	mu     sync.Mutex
	failed map[sender]window
	total  window // of all senders
	proven map[sender]time.Time
	lanes  map[string]*lane // by address
	users  int              // sum of users in all lanes
}

// A sender is an address with a name. The name is the one of the request, or of the matching
// credential.
type sender struct{ addr, name string }

func newSender(addr, name string) sender { return sender{addr, name[:min(len(name), 100)]} }

// A window counts the failures since its start.
type window struct {
	start time.Time
	count int
}

// at returns the window for a time: w, or a new one if w is over.
func (w window) at(now time.Time) window {
	if age := now.Sub(w.start); age < 0 || age >= Window {
		return window{start: now}
	}
	return w
}

// A lane limits how many requests of one address wait or are checked at a time.
type lane struct {
	turns chan struct{}
	users int
}

// NewAttempts returns Attempts without failures. now is its clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{
		now: now, turns: make(chan struct{}, turnsOfAll),
		failed: map[sender]window{}, proven: map[sender]time.Time{}, lanes: map[string]*lane{},
	}
}

// A Try is the secret of one request.
type Try struct {
	Addr  string // where it came from, see [ClientAddr]
	Name  string // the user name of the request; empty: a bearer token
	Right string // name of the matching credential; empty: the secret is wrong
	Long  bool   // it has at least LongSecret bytes
}

// Judge reports whether a secret is accepted. If not, it returns how long the sender must wait
// before the next try; 0: no wait. After too many wrong secrets, Judge itself waits for a turn,
// except for a right secret that is long or known from the address. If there is no turn, because
// too many requests wait or ctx ends, no secret is accepted.
func (a *Attempts) Judge(ctx context.Context, t Try) (right bool, wait time.Duration) {
	left := a.count(t)
	if left == 0 {
		return t.Right != "", 0
	}
	if !a.takeTurn(ctx, t.Addr) || t.Right == "" {
		return false, left
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prove(t)
	return true, 0
}

// count records a failure. If there were already too many, it records nothing, and returns the time
// until their window ends.
func (a *Attempts) count(t Try) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if at, ok := a.proven[newSender(t.Addr, t.Right)]; t.Right != "" && (t.Long || ok && now.Sub(at) < provenAge) {
		a.prove(t)
		return 0
	}
	k := newSender(t.Addr, t.Name)
	w, total := a.failed[k].at(now), a.total.at(now)
	switch {
	case w.count >= MaxFailures:
		return w.start.Add(Window).Sub(now)
	case total.count >= maxTotal:
		return total.start.Add(Window).Sub(now)
	case t.Right != "":
		a.prove(t)
		return 0
	}
	if _, ok := a.failed[k]; !ok && len(a.failed) >= maxSenders {
		a.shrink(now)
	}
	w.count++
	total.count++
	a.failed[k], a.total = w, total
	return 0
}

// prove records that a right secret came from an address. The caller holds a.mu.
func (a *Attempts) prove(t Try) {
	k, now := newSender(t.Addr, t.Right), a.now()
	if _, ok := a.proven[k]; !ok && len(a.proven) >= maxSenders {
		oldest := k
		for other, at := range a.proven {
			if oldest == k || at.Before(a.proven[oldest]) {
				oldest = other
			}
		}
		delete(a.proven, oldest)
	}
	a.proven[k] = now
}

// takeTurn waits for a turn of an address, and then until the turn is over. It reports whether the
// whole turn passed before ctx ended.
func (a *Attempts) takeTurn(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	l, crowded, allCrowded := a.enter(addr)
	defer a.leave(addr, l)
	if !acquire(ctx, l.turns, crowded) {
		return false
	}
	defer func() { <-l.turns }()
	if !acquire(ctx, a.turns, allCrowded) {
		return false
	}
	defer func() { <-a.turns }()
	return wait.For(ctx, Pause) == nil
}

// acquire waits for a turn. The next turn goes to a random waiting request, not to the oldest, so
// that a right secret among many guesses gets a turn after a few tries. crowded means that other
// requests wait.
func acquire(ctx context.Context, turns chan struct{}, crowded bool) bool {
	for {
		if !crowded {
			select {
			case turns <- struct{}{}:
				return true
			default:
			}
		}
		crowded = false
		if wait.For(ctx, Pause/20+rand.N(Pause/5)) != nil { //nolint:gosec // the order is not a secret
			return false
		}
	}
}

// enter adds a request to the lane of an address. It reports whether the lane has more requests
// than turns, and whether all lanes together have.
func (a *Attempts) enter(addr string) (l *lane, crowded, allCrowded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l = a.lanes[addr]; l == nil {
		l = &lane{turns: make(chan struct{}, turnsOfAddress)}
		a.lanes[addr] = l
	}
	l.users++
	a.users++
	return l, l.users > turnsOfAddress, a.users > turnsOfAll
}

func (a *Attempts) leave(addr string, l *lane) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users--
	if l.users--; l.users == 0 {
		delete(a.lanes, addr)
	}
}

// shrink drops the windows that are over. If too many are left, it also drops the quarter with the
// fewest failures.
func (a *Attempts) shrink(now time.Time) {
	for k, w := range a.failed {
		if now.Sub(w.start) >= Window {
			delete(a.failed, k)
		}
	}
	for count := 1; len(a.failed) >= maxSenders*3/4 && count <= MaxFailures; count++ {
		for k, w := range a.failed {
			if w.count <= count && len(a.failed) >= maxSenders*3/4 {
				delete(a.failed, k)
			}
		}
	}
}
