package access

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/wait"
)

// How many wrong secrets an address may try under one name within a window. Until the
// window ends, further secrets are answered only in their turn: neither an early disconnect
// nor many requests at once reveal sooner whether a guess is right. The
// exceptions are a secret that the same address showed within a day, and a right one that is too
// long to be guessed.
const (
	MaxFailures = 10
	Window      = time.Minute
	Pause       = time.Second // that a turn takes
)

// LongSecret is the length in bytes from which a secret is accepted at once, however many wrong
// ones are tried meanwhile.
const LongSecret = secret.Long

const (
	maxTotal       = 600              // wrong secrets of all senders within a window, before all wait for turns
	turnsOfAddress = 8                // at the same time; so many guesses a second has an address
	turnsOfAll     = 64               // at the same time
	maxWait        = 10 * time.Second // for a turn; the server leaves more to requests when it stops
	provenAge      = 24 * time.Hour   // since a right secret came from an address
)

// maxSenders bounds the memory. When it is exceeded, senders with the fewest failures are
// dropped first, so a guesser is dropped only after as many failures under thousands of
// other names.
const maxSenders = 4096

// Attempts counts wrong secrets by address and name, and bounds how fast secrets can be
// guessed. A right secret is accepted at once when it is long, or came from the same address
// within a day. A short one that is new at its address waits for a turn, and gets none while too
// many guesses wait. It is safe for concurrent use.
type Attempts struct {
	now   func() time.Time
	turns chan struct{} // one element for each turn

	mu     sync.Mutex
	failed map[sender]window
	total  window // of all senders
	proven map[sender]time.Time
	lanes  map[string]*lane // by address
	users  int              // of all lanes
}

// A sender is an address with a name: the one under which a secret is tried, or that of a
// credential.
type sender struct{ addr, name string }

func newSender(addr, name string) sender { return sender{addr, name[:min(len(name), 100)]} }

// A window counts the failures since its start.
type window struct {
	start time.Time
	count int
}

// at returns the window at a time: a new one if it is over.
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

// NewAttempts returns Attempts without failures, on a clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{
		now: now, turns: make(chan struct{}, turnsOfAll),
		failed: map[sender]window{}, proven: map[sender]time.Time{}, lanes: map[string]*lane{},
	}
}

// A Try is the secret of one request.
type Try struct {
	Addr  string // where it came from, see [ClientAddr]
	Name  string // under which; empty: as a bearer token
	Right string // name of the credential that it belongs to; empty: it is wrong
	Long  bool   // it has at least LongSecret bytes
}

// Judge reports whether a secret counts as right. If not, it returns how long its sender has to
// wait before the next one; 0: not at all. After too many wrong ones Judge itself waits for a
// turn, unless the secret is right, and long or known from that address. Without a turn, because
// too many wait or ctx ends, no secret counts as right.
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

// count counts a failure. If there were too many before, it counts nothing, and returns the
// rest of their window.
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

// takeTurn waits for a turn of an address and takes it, for as long as it lasts. It reports whether
// it was not ended before.
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

// acquire waits for a turn. The next turn goes to a random waiting request, not to the oldest: a
// correct secret among many guesses gets a turn after a few tries. crowded reports whether others
// wait.
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

// enter returns the lane of an address, and whether its turns are taken, and those of all.
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

// shrink drops windows that are over, then a quarter of the others if that is not enough,
// those with the fewest failures first.
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
