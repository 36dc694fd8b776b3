package harness

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/response"
)

// A Credential authenticates agents. They send the secret as a bearer token, or name and secret as
// Basic authentication, such as by the userinfo of the harness's address.
type Credential struct {
	Name   string // unique, without ":"; the queue records it with the claim; required
	Secret string // unique; at least 32 random characters resist guessing; required
	// Agents are the addresses of the agents whose tasks may be claimed with it; none: all.
	Agents []string
}

// A Claimant is the sender of a request, who acts as an agent.
type Claimant struct {
	Name string // the queue accepts a decision only from the name that claimed the task; may be empty
	// Agents are the addresses of the agents whose tasks may be claimed; none: all.
	Agents []string
}

// authorizer returns the function that checks the senders of requests.
func (o Options) authorizer() (func(*http.Request) (access.Caller, error), error) {
	if o.Authenticate != nil {
		if len(o.Credentials) > 0 {
			return nil, errors.New("harness: Credentials are set, and Authenticate is, too: want one of them")
		}
		return o.authenticated, nil
	}
	var list []access.Credential
	for _, c := range o.Credentials {
		list = append(list, access.Credential{Name: c.Name, Secret: secret.Text(c.Secret), Agents: c.Agents})
	}
	credentials, err := access.NewCredentials(list)
	if err != nil {
		return nil, fmt.Errorf("harness: Credentials: %w", err)
	}
	a := access.NewAuthorizer(credentials, access.NewAttempts(o.Now))
	return func(r *http.Request) (access.Caller, error) { return a.Authorize(r, access.Agents) }, nil
}

// authenticated returns the sender of a request as Options.Authenticate finds it.
func (o Options) authenticated(r *http.Request) (access.Caller, error) {
	c, err := o.Authenticate(r)
	if err != nil {
		o.Log.DebugContext(r.Context(), "request refused by Authenticate", "remote", access.ClientAddr(r), "error", err)
		return access.Caller{}, &response.Error{
			Status: http.StatusUnauthorized, Detail: "the sender may not act as an agent",
			Header: http.Header{"Www-Authenticate": {`Bearer realm="foreman"`}}, Warning: response.UnknownCredential,
		}
	}
	agents := make([]string, 0, len(c.Agents))
	for _, url := range c.Agents {
		canonical, err := address.Canonical(url)
		if err != nil {
			return access.Caller{}, fmt.Errorf("harness: Claimant.Agents: %w", err)
		}
		agents = append(agents, canonical)
	}
	return access.NewCaller(c.Name, agents), nil
}
