package resultstest

import (
	"context"
	"net/http"
	"path"
)

// A Fault is something that goes wrong with some of the calls. The zero value of
// each field leaves that part alone.
type Fault struct {
	Method string // the calls with this method; empty: all
	Path   string // the calls whose path matches this pattern of [path.Match]; empty: all
	Query  string // the calls whose query has this value of "comp"; empty: all

	// Nth is the first call to be hit, from 1, counted among those that match since
	// the fault was set, 0 meaning 1. Times is how many are hit, 0 meaning 1 and a
	// negative number all.
	Nth, Times int

	Status    int // answered instead of doing anything, with Header and Body
	Header    map[string]string
	Body      string
	CutBefore bool // close the connection, nothing done
	CutAfter  bool // do what was asked, then close the connection without an answer

	// Reached, when set, gets a value when a call is hit; the call waits until it is
	// taken. Hold, when set, then stops it until the channel gives a value or is
	// closed. Both end when the caller hangs up or the server closes, and the call
	// is then cut, nothing done.
	Reached chan<- struct{}
	Hold    <-chan struct{}
}

type fault struct {
	Fault
	seen int
}

// Fault adds a fault. Of several that hit the same call the first one set counts.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Nth = max(f.Nth, 1)
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &fault{Fault: f})
}

// ClearFaults takes back all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// meet returns the fault that hits a call, or the zero Fault. The caller holds s.mu.
func (s *Server) meet(r *http.Request) Fault {
	var hit Fault
	found := false
	for _, f := range s.faults {
		// Each counts its calls, also those that another one hits.
		if f.hits(r) && !found {
			hit, found = f.Fault, true
		}
	}
	return hit
}

func (f *fault) hits(r *http.Request) bool {
	if f.Method != "" && f.Method != r.Method {
		return false
	}
	if f.Query != "" && f.Query != r.URL.Query().Get("comp") {
		return false
	}
	if f.Path != "" {
		if ok, err := path.Match(f.Path, r.URL.Path); err != nil || !ok {
			return false
		}
	}
	f.seen++
	return f.seen >= f.Nth && (f.Times < 0 || f.seen < f.Nth+f.Times)
}

// hold waits as the fault says; false means that the call is over.
func (f Fault) hold(ctx context.Context, closed <-chan struct{}) bool {
	reached, hold := f.Reached, f.Hold
	for reached != nil || hold != nil {
		wait := hold
		if reached != nil {
			wait = nil
		}
		select {
		case reached <- struct{}{}:
			reached = nil
		case <-wait:
			hold = nil
		case <-ctx.Done():
			return false
		case <-closed:
			return false
		}
	}
	return true
}
