package loopback

import (
	"net/http"
	"path"
	"strings"
)

// A Fault goes wrong with some of the requests. The zero value of each field leaves
// that part alone.
type Fault struct {
	Method string // the requests with this method; empty: all
	Path   string // the requests whose escaped path matches this pattern of [path.Match]; empty: all
	Query  string // the requests whose query has this name=value; empty: all

	// Nth is the number of the first request that fails, from 1, among the matching requests since
	// the fault was added. Times is the number of requests that fail from there on; negative: all.
	// Both 0: every request fails. Only Times 0: the n-th alone. Only Nth 0: the first ones.
	Nth, Times int

	// Status, when set, is answered instead of serving the request, with Header and
	// Body.
	Status int
	Header map[string]string
	Body   string

	CutBefore bool // close the connection, without serving the request
	CutAfter  bool // serve the request, then close the connection without an answer

	// Reached, when set, gets a value when a request is hit; the request waits until it
	// is received. Hold, when set, then stops it until the channel gives a value or is
	// closed. Both end when the client hangs up or the server closes; the request is
	// then not served.
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

// The faults of a server.
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
		// Each counts its requests, also those that another one hits.
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
