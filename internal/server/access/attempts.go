package access

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// How many wrong secrets an address may try under one name within a window. After that it
// is locked out until the window ends.
const (
	MaxFailures = 10
	Window      = time.Minute
)

// maxSenders bounds the memory. When it is exceeded, senders with the fewest failures are
// dropped first, so a guesser is dropped only after as many failures under thousands of
// other names.
const maxSenders = 4096

// Attempts counts wrong secrets by address and name: guessing one name locks out no other
// user behind the same proxy. It is safe for concurrent use.
type Attempts struct {
	now func() time.Time

	mu     sync.Mutex
	failed map[sender]window
}

type sender struct{ addr, name string }

func newSender(addr, name string) sender { return sender{addr, name[:min(len(name), 100)]} }

// A window counts the failures since its start.
type window struct {
	start time.Time
	count int
}

// NewAttempts returns Attempts without failures, on a clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, failed: map[sender]window{}}
}

// ClientAddr returns the address that a request came from: the IP address, for IPv6 its /64
// network, all of which one machine may own.
func ClientAddr(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap()
	if p, err := addr.WithZone("").Prefix(64); addr.Is6() && err == nil {
		return p.String()
	}
	return addr.String()
}

// Allowed reports whether a secret from the address under the name may be checked. An empty
// name is that of bearer tokens.
func (a *Attempts) Allowed(addr, name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.failed[newSender(addr, name)]
	return !ok || w.count < MaxFailures || a.now().Sub(w.start) >= Window
}

// Fail counts a wrong secret.
func (a *Attempts) Fail(addr, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	k := newSender(addr, name)
	w, ok := a.failed[k]
	if !ok && len(a.failed) >= maxSenders {
		a.shrink(now)
	}
	if now.Sub(w.start) >= Window {
		w = window{start: now}
	}
	w.count = min(w.count+1, MaxFailures)
	a.failed[k] = w
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
