package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

// A Call is one request that the server got.
type Call struct {
	Method string
	Path   string // escaped, as received
	Query  url.Values
	Header http.Header // Accept, Authorization, Content-Type, If-None-Match, User-Agent, X-GitHub-Api-Version
	Body   string
	Status int  // of the response; 0 when there was none
	Cut    bool // the connection was closed without an answer
}

// String returns the call's line in [Server.Log].
func (c Call) String() string {
	switch {
	case c.Cut && c.Status == 0:
		return fmt.Sprintf("%s %s cut", c.Method, c.Path)
	case c.Cut:
		return fmt.Sprintf("%s %s %d cut", c.Method, c.Path, c.Status)
	}
	return fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status)
}

// newCall keeps the fields of a request that tests check.
func newCall(c loopback.Call) Call {
	header := http.Header{}
	for _, h := range []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "User-Agent", "X-Github-Api-Version"} {
		if v := c.Header.Values(h); len(v) > 0 {
			header[h] = v
		}
	}
	path, query, _ := strings.Cut(c.URI, "?")
	values, _ := url.ParseQuery(query) // drops malformed parts, as [url.URL.Query] does
	return Call{Method: c.Method, Path: path, Query: values, Header: header, Body: string(c.Body), Status: c.Status, Cut: c.Cut}
}

// A Fault makes some of the calls fail. If Status is set and Body is empty, the response has
// GitHub's JSON for that status.
type Fault = loopback.Fault
