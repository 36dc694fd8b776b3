package loopback

import (
	"net/http"
	"path"
	"strings"
)

// A Fault makes some of the requests fail. A zero field has no effect, unless its comment names
// another meaning.
type Fault struct {
	Method string // the requests with this method; empty: all
	Path   string // the requests whose escaped path matches this pattern of [path.Match]; empty: all
	Query  string // the requests whose query has this name=value; empty: all

	// Nth is the number of the first request that fails. Matching requests are counted from 1, from
	// the moment the fault was added. Times is the number of requests that fail from there on;
	// negative: all. Both 0: every request fails. Only Times 0: only the n-th request fails. Only Nth
	// 0: the first requests fail.
	Nth, Times int

	// Status, if not 0, is the status of the answer, together with Header and Body. The handler is
	// not called.
	Status int
	Header map[string]string
	Body   string

	CutBefore bool // close the connection without calling the handler
	CutAfter  bool // call the handler, then close the connection without an answer

	// Reached, if not nil, receives a value when the fault hits a request. The request waits until
	// the test reads this value. Hold, if not nil, then stops the request until the channel delivers
	// a value or is closed. If the client hangs up or the server closes meanwhile, the waiting ends
	// and the request is not served.
	Reached chan<- struct{}
	Hold    <-chan struct{}
}

// Answer returns the fault's Status, Header and Body.
func (f Fault) Answer() Answer {
	h := http.Header{}
	for k, v := range f.Header {
		h.Set(k, v)
	}
	return Answer{Status: f.Status, Header: h, Body: []byte(f.Body)}
}

type fault struct {
	Fault
	seen int
}

// faults are the faults of a server.
type faults struct {
	list  []*fault
	cutAt int // requests left to serve; negative: no limit
}

// meet returns the fault that hits a request, or the zero Fault.
func (s *faults) meet(r *http.Request) Fault {
	if s.cutAt == 0 {
		return Fault{CutBefore: true}
	}
	s.cutAt = max(s.cutAt-1, -1)
	var hit Fault
	found := false
	for _, f := range s.list {
		// Each fault counts every request that matches it, even when another fault hits the request.
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
	if name, value, _ := strings.Cut(f.Query, "="); name != "" && r.URL.Query().Get(name) != value {
		return false
	}
	if f.Path != "" {
		if ok, err := path.Match(f.Path, r.URL.EscapedPath()); err != nil || !ok {
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
