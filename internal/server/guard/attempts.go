package guard

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// How many wrong secrets a sender may try under a name before it must wait for the end of
// its window.
const (
	MaxFailures = 10
	Window      = time.Minute
)

// maxSenders bounds the memory. Beyond it those who failed least are forgotten: to be
// forgotten, who guesses has to fail as often under thousands of other names.
const maxSenders = 4096

// sweepEvery is how often a full table is looked through: a flood would have it done each
// time.
const sweepEvery = time.Second

// Attempts count wrong secrets by who sent them and under which name, so that who tries
// out one name keeps nobody else out who comes by the same proxy. They are safe for
// concurrent use.
type Attempts struct {
	now func() time.Time

	mu     sync.Mutex
	failed map[sender]window
	told   map[string]time.Time
	swept  time.Time // when told was looked through last for what is over
}

type sender struct{ from, name string }

// A window counts failures from its begin on.
type window struct {
	begin time.Time
	count int
}

// NewAttempts returns Attempts without any failure, on a clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, failed: map[sender]window{}, told: map[string]time.Time{}}
}

// From is where a request came from: the IP address, of IPv6 the network, all of which one
// machine has for itself.
func From(r *http.Request) string {
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

// Allowed reports whether secrets are looked at that come from there under the name; empty:
// under none.
func (a *Attempts) Allowed(from, name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.failed[senderOf(from, name)]
	return !ok || w.count < MaxFailures || a.now().Sub(w.begin) >= Window
}

// Fail counts a failure.
func (a *Attempts) Fail(from, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	k := senderOf(from, name)
	w, ok := a.failed[k]
	if !ok && len(a.failed) >= maxSenders {
		a.forget(now)
	}
	if now.Sub(w.begin) >= Window {
		w = window{begin: now}
	}
	w.count = min(w.count+1, MaxFailures)
	a.failed[k] = w
}

// forget makes room: of windows that are over, or else of a quarter of the others, those
// with the fewest failures first.
func (a *Attempts) forget(now time.Time) {
	for k, w := range a.failed {
		if now.Sub(w.begin) >= Window {
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

// senderOf returns under what a failure is counted.
func senderOf(from, name string) sender { return sender{from, name[:min(len(name), 100)]} }

// Tell reports whether a log is to be told of what came from there: once in a window, for
// somebody who goes on fills the disk else.
func (a *Attempts) Tell(from string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if at, ok := a.told[from]; ok && now.Sub(at) < Window {
		return false
	}
	if len(a.told) >= maxSenders && now.Sub(a.swept) >= sweepEvery {
		a.swept = now
		for k, at := range a.told {
			if now.Sub(at) >= Window {
				delete(a.told, k)
			}
		}
	}
	if len(a.told) >= maxSenders {
		return false
	}
	a.told[from] = now
	return true
}
