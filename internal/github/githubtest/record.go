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

// newCall keeps what tests may ask of a request.
func newCall(r *http.Request, body []byte) *Call {
	header := http.Header{}
	for _, h := range []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "User-Agent", "X-Github-Api-Version"} {
		if v := r.Header.Values(h); len(v) > 0 {
			header[h] = append([]string(nil), v...)
		}
	}
	return &Call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: header, Body: string(body)}
}
