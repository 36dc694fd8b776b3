package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
)

// A Call is one request that the server got.
type Call struct {
	Method string
	Path   string // escaped, as it came
	Query  url.Values
	Header http.Header // Accept, Authorization, Content-Type, If-None-Match, User-Agent, X-GitHub-Api-Version
	Body   string
	Status int  // of the answer; 0 when none was made
	Cut    bool // the connection was closed without an answer
}

// String returns the line that [Server.Log] has for the call.
func (c Call) String() string {
	switch {
	case c.Cut && c.Status == 0:
		return fmt.Sprintf("%s %s cut", c.Method, c.Path)
	case c.Cut:
		return fmt.Sprintf("%s %s %d cut", c.Method, c.Path, c.Status)
	}
	return fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status)
}

// Calls returns the calls so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Call, 0, len(s.calls))
	for _, c := range s.calls {
		list = append(list, *c)
	}
	return list
}

// Log returns a line for each call: method, escaped path without query, and status,
// such as "POST /repos/octo/hello/issues/7/comments 201". " cut" at the end says
// that the caller got no answer; without a status, that nothing was done either. A
// call under way has status 0.
func (s *Server) Log() []string {
	var lines []string
	for _, c := range s.Calls() {
		lines = append(lines, c.String())
	}
	return lines
}

// ResetCalls forgets the calls so far. Faults go on counting.
func (s *Server) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// arrive records a call and returns a handle on it, and the fault it meets.
func (s *Server) arrive(r *http.Request, body []byte) (*Call, Fault) {
	header := http.Header{}
	for _, h := range []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "User-Agent", "X-Github-Api-Version"} {
		if v := r.Header.Values(h); len(v) > 0 {
			header[h] = append([]string(nil), v...)
		}
	}
	c := &Call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: header, Body: string(body)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return c, s.meet(c)
}

func (s *Server) record(c *Call, status int, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status, c.Cut = status, cut
}
