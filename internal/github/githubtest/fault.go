package githubtest

import (
	"context"
	"net/http"
	"path"
)

// A Fault is something that goes wrong with some of the calls. The zero value of
// each field leaves that part alone.
type Fault struct {
	Method string // the calls with this method; empty: all
	Path   string // the calls whose escaped path matches this pattern of [path.Match]; empty: all

	// Nth is the first call to be hit, from 1, counted among those that match since
	// the fault was set; Times is how many are hit from there on, negative: all.
	// Both 0: every one; Times alone 0: just the n-th; Nth alone 0: the first ones.
	Nth, Times int

	// Status, when set, is answered instead of doing anything, with Header and Body;
	// an empty Body is GitHub's JSON for the status.
	Status int
	Header map[string]string
	Body   string

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

// The faults that are set.
type faults struct {
	list  []*fault
	cutAt int // calls left to serve; negative: no limit
}

// meet returns the fault that hits a call, or the zero Fault.
func (s *faults) meet(c *Call) Fault {
	if s.cutAt == 0 {
		return Fault{CutBefore: true}
	}
	s.cutAt = max(s.cutAt-1, -1)
	var hit Fault
	found := false
	for _, f := range s.list {
		// Each counts its calls, also those that another one hits.
		if f.hits(c) && !found {
			hit, found = f.Fault, true
		}
	}
	return hit
}

func (f *fault) hits(c *Call) bool {
	if f.Method != "" && f.Method != c.Method {
		return false
	}
	if f.Path != "" {
		if ok, err := path.Match(f.Path, c.Path); err != nil || !ok {
			return false
		}
	}
	f.seen++
	first, times := max(f.Nth, 1), f.Times
	switch {
	case times == 0 && f.Nth == 0:
		times = -1
	case times == 0:
		times = 1
	}
	return f.seen >= first && (times < 0 || f.seen < first+times)
}

// hold waits as the fault says; false means that the call is over.
func (f Fault) hold(ctx context.Context, closed <-chan struct{}) bool {
	if f.Reached != nil {
		select {
		case f.Reached <- struct{}{}:
		case <-ctx.Done():
			return false
		case <-closed:
			return false
		}
	}
	if f.Hold == nil {
		return true
	}
	select {
	case <-f.Hold:
		return true
	case <-ctx.Done():
		return false
	case <-closed:
		return false
	}
}

func (f Fault) answer() answer {
	a := failure(f.Status, http.StatusText(f.Status))
	if f.Body != "" {
		a.raw = []byte(f.Body)
	}
	for k, v := range f.Header {
		a.header.Set(k, v)
	}
	return a
}
