package access

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/org/foreman-action/internal/server/response"
)

// A Role is a kind of sender that a request requires.
type Role int

// The roles.
const (
	Anyone    Role = iota // for health checks, and for paths with other checks, such as a signature
	Agents                // claim tasks and decide on them
	Operators             // see, retry and cancel all tasks
)

// A Caller is the authenticated sender of a request. The zero value is an anonymous sender, if the
// request requires no credential.
type Caller struct {
	Name   string   // of the credential; the queue records it
	agents []string // canonical addresses; none: all
}

// MayClaim reports whether the caller may claim tasks of the agent with that canonical
// address.
func (c Caller) MayClaim(agent string) bool {
	return len(c.agents) == 0 || slices.Contains(c.agents, agent)
}

// NewCaller returns the caller with a name, who may claim tasks of the agents with these canonical
// addresses; none: all.
func NewCaller(name string, agents []string) Caller { return Caller{name, agents} }

// Agents returns the canonical addresses of the agents whose tasks the caller may claim; none: all.
func (c Caller) Agents() []string { return slices.Clone(c.agents) }

type callerKey struct{}

// With returns the request with its sender in the context, for a handler that does not authorize.
func (c Caller) With(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// CallerOf returns the sender that With stored; ok is false if there is none.
func CallerOf(r *http.Request) (c Caller, ok bool) {
	c, ok = r.Context().Value(callerKey{}).(Caller)
	return c, ok
}

// An Authorizer checks the senders of requests. It is safe for concurrent use.
type Authorizer struct {
	credentials *Credentials
	attempts    *Attempts
	origins     *http.CrossOriginProtection
}

// NewAuthorizer returns an Authorizer. Nil credentials mean that only requests from this machine
// are permitted. Attempts may be shared with other checks of secrets.
func NewAuthorizer(c *Credentials, a *Attempts) *Authorizer {
	if c == nil {
		c, _ = NewCredentials(nil) // an empty list has no mistakes
	}
	return &Authorizer{credentials: c, attempts: a, origins: http.NewCrossOriginProtection()}
}

// Authorize returns the sender of a request. If the sender does not have the role, it returns an
// error of type *response.Error. It refuses requests from pages of other sites for every role.
func (a *Authorizer) Authorize(r *http.Request, role Role) (Caller, error) {
	if err := a.origins.Check(r); err != nil {
		return Caller{}, forbidden("the request came from a page of another site")
	}
	if role == Anyone {
		return Caller{}, nil
	}
	set, header := a.credentials.current.Load(), r.Header.Get("Authorization")
	found := set.lookup(header)
	err := set.checkAnonymous(r, role)
	if found == nil && (err == nil || header == "") {
		return Caller{}, err
	}
	try := Try{Addr: ClientAddr(r)}
	if found != nil {
		try.Right, try.Long = found.name, found.long
	}
	right, left := a.attempts.Judge(r.Context(), try)
	switch {
	case left > 0:
		return Caller{}, &response.Error{
			Status: http.StatusTooManyRequests, Detail: "too many wrong credentials came from this address; wait for a minute",
			Header: http.Header{"Retry-After": {RetryAfter(left)}}, Warning: response.UnknownCredential,
		}
	case !right:
		return Caller{}, err
	case found.operator != (role == Operators):
		return Caller{}, forbidden("the credential does not permit this request")
	}
	return Caller{found.name, found.agents}, nil
}

// RetryAfter formats a time for the header of that name: in seconds, rounded up.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// checkAnonymous returns nil if a request without a known credential is permitted: the
// configuration has no credential for the role, and the request is local.
func (s *set) checkAnonymous(r *http.Request, role Role) error {
	if required := s.agents || s.operators && role == Operators; !required {
		if err := CheckLocal(r); err != nil {
			return forbidden(err.Error())
		}
		return nil
	}
	err := &response.Error{
		Status: http.StatusUnauthorized, Detail: "want a bearer token, or a name and a secret",
		Header:  http.Header{"Www-Authenticate": {`Bearer realm="foreman"`, `Basic realm="foreman", charset="UTF-8"`}},
		Warning: response.UnknownCredential,
	}
	if r.Header.Get("Authorization") != "" {
		err.Detail = "no credential matches the Authorization header: want the secret of one as a bearer token, or its name and secret"
	}
	if role == Operators && !s.operators {
		err.Detail = "only operators see this, and none are configured (server.operators)"
	}
	return err
}

func forbidden(detail string) error {
	return &response.Error{Status: http.StatusForbidden, Detail: detail}
}
