package loopback

import (
	"cmp"
	"maps"
	"net/http"
)

// A Cut is the point at which the server closes the connection of an answer.
type Cut int

// The points.
const (
	NoCut         Cut = iota // the whole answer is sent
	BeforeHeaders            // the client gets no byte of the answer
	InBody                   // the client receives the first half of the body
)

// An Answer is what a server sends back. The zero value is status 200 with an empty
// body.
type Answer struct {
	Status int // 0: 200
	Header http.Header
	Body   []byte
	// Hold delays the whole answer, and HoldBody delays the second half of its body, until the
	// channel delivers a value or is closed. nil: no delay.
	Hold, HoldBody <-chan struct{}
	Cut            Cut
}

func (a Answer) status() int { return cmp.Or(a.Status, http.StatusOK) }

// write sends an answer.
func (s *Server) write(w http.ResponseWriter, r *http.Request, c *Call, a Answer) {
	if !s.wait(r, nil, a.Hold) || a.Cut == BeforeHeaders {
		s.abort(c, 0)
	}
	s.finish(c, a.status(), false)
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.status())
	if a.HoldBody == nil && a.Cut != InBody {
		_, _ = w.Write(a.Body)
		return
	}
	half := len(a.Body) / 2
	_, _ = w.Write(a.Body[:half])
	_ = http.NewResponseController(w).Flush()
	if !s.wait(r, nil, a.HoldBody) || a.Cut == InBody {
		s.abort(c, a.status())
	}
	_, _ = w.Write(a.Body[half:])
}
