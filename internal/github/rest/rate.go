package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A rate contains the token's remaining calls as GitHub last reported them.
type rate struct {
	mu        sync.Mutex
	known     bool
	remaining int
	limit     int // calls of an hour; 0: not reported
	reset     time.Time
}

// note stores the remaining calls from the headers of a response.
func (r *rate) note(h http.Header) {
	if resource := h.Get("X-Ratelimit-Resource"); resource != "" && resource != "core" { // the search has a separate limit
		return
	}
	remaining, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	reset, rerr := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	limit, lerr := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && rerr == nil {
		r.known, r.remaining, r.reset = true, remaining, time.Unix(reset, 0).UTC()
	}
	if lerr == nil && limit > 0 {
		r.limit = limit
	}
}

// hourly returns the calls of an hour as GitHub last reported them; 0: it did not.
func (r *rate) hourly() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit
}

// ended reports whether GitHub's hour of the last report has ended.
func (r *rate) ended(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known && !now.Before(r.reset)
}

// spend returns a [BudgetError] if no more calls than the reserve are left.
func (r *rate) spend(reserve int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known || r.remaining > reserve || !now.Before(r.reset) {
		return nil
	}
	return &BudgetError{Remaining: r.remaining, Reserve: reserve, Reset: r.reset}
}

// A BudgetError means that the remaining calls of the token are reserved for other users of the
// token.
type BudgetError struct {
	Remaining int       // calls left
	Reserve   int       // calls that must stay unused
	Reset     time.Time // when GitHub allows more calls
}

// Error states how many calls are left.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("the token has %d calls left until %s, and %d are reserved for other users of the token",
		e.Remaining, e.Reset.UTC().Format("15:04 MST"), e.Reserve)
}
