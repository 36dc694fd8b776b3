package rest

import (
	"log/slog"
	"sync"
	"time"
)

// A Hold delays all requests of one account while GitHub limits the account. When the limit ends,
// one request is the probe: the others wait for its answer. If GitHub had refused a write, the first
// write after that is another probe, for which the other writes wait. A Hold is shared by all
// callers of the account, and safe for concurrent use. The methods of a nil Hold do nothing.
type Hold struct {
	account string
	log     *slog.Logger

	mu       sync.Mutex
	until    time.Time     // end of the limit; zero: GitHub does not limit the account
	cause    error         // GitHub's last refusal
	writes   bool          // GitHub refused a write, and accepted none since
	refusals int           // consecutive limits
	probe    chan struct{} // closed when the probe has ended; nil: no probe is on its way
}

// NewHold returns a Hold of an account; its name is for the log. A nil log discards.
func NewHold(account string, log *slog.Logger) *Hold {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hold{account: account, log: log}
}

// Account returns the name of the account; empty for a nil Hold.
func (h *Hold) Account() string {
	if h == nil {
		return ""
	}
	return h.account
}

// Until returns the end of the current limit; zero: GitHub does not limit the account.
func (h *Hold) Until(now time.Time) time.Time {
	if h == nil {
		return time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !now.Before(h.until) {
		return time.Time{}
	}
	return h.until
}

// An entry is the permission of one request, or the reason to wait.
type entry struct {
	wait  time.Duration   // until the limit ends; 0: now
	cause error           // of the wait
	probe <-chan struct{} // not nil: another request is the probe
	leave func(now time.Time, answered bool)
}

// enter returns the entry of a request. The caller must call leave if there is no reason to wait.
func (h *Hold) enter(now time.Time, write bool) entry {
	if h == nil {
		return entry{leave: func(time.Time, bool) {}}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.until.IsZero() && (!write || !h.writes):
		return entry{leave: func(time.Time, bool) {}}
	case now.Before(h.until):
		return entry{wait: h.until.Sub(now), cause: h.cause}
	case h.probe != nil:
		return entry{probe: h.probe, cause: h.cause}
	}
	h.probe = make(chan struct{})
	return entry{leave: func(now time.Time, answered bool) { h.end(now, answered, write) }}
}

// end ends the probe. If GitHub answered it without a limit, the hold ends too, at least for reads.
// Otherwise limit has extended the hold, or another request becomes the probe. A limit that began
// while the probe was on its way stays.
func (h *Hold) end(now time.Time, answered, write bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.probe)
	h.probe = nil
	if !answered || now.Before(h.until) {
		return
	}
	h.until = time.Time{}
	if write || !h.writes {
		h.writes, h.refusals, h.cause = false, 0, nil
		h.log.Info("GitHub no longer limits the account", "account", h.account)
	}
}

// limited returns the number of consecutive limits.
func (h *Hold) limited() int {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refusals
}

// limit begins or extends the hold. The answers of requests that were already on their way when the
// hold began count as the same limit.
func (h *Hold) limit(write bool, now time.Time, wait time.Duration, cause error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = h.writes || write
	until := now.Add(wait)
	if !now.Before(h.until) {
		h.refusals++
		h.log.Warn("GitHub limits the account; requests wait until the limit ends, and then one request probes",
			"account", h.account, "until", until.UTC(), "wait", wait, "error", cause)
	}
	if until.After(h.until) {
		h.until, h.cause = until, cause
	}
}
