// Package access decides who may send a request to the server: by its credential, by its origin,
// and by how many wrong secrets its sender tried.
//
// There are two kinds of credentials. Agents use theirs to claim tasks and to decide on them.
// Operators are people: they see everything and change the state of tasks. Only the method find in
// this file compares secrets. Package intake compares the signatures of webhooks.
package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/secret"
)

// A Credential authenticates an agent or an operator. The secret is sent as a bearer token, or name
// and secret as Basic authentication. Published agents do the latter with the userinfo of the
// server's address.
type Credential struct {
	Name   string      // required, unique, without ":"
	Secret secret.Text // required, unique
	// Agents are the addresses of the agents whose tasks this credential may claim, in any form that
	// address.Canonical accepts; empty: all agents.
	Agents []string
	// Operator means that the credential belongs to a person. An operator may see and change
	// everything, but cannot claim tasks or decide on them. Agents must be empty then.
	Operator bool
}

// Credentials is the set that a server accepts. It is safe for concurrent use.
type Credentials struct {
	mu      sync.Mutex // held by writers of current
	current atomic.Pointer[set]
}

// A set is a state of Credentials. It is immutable.
type set struct {
	list []entry
	// Whether the configuration has such credentials. Those added at run time do not count.
	agents, operators bool
}

type entry struct {
	name     string
	hash     [sha256.Size]byte // of the secret
	long     bool              // the secret has at least LongSecret bytes
	agents   []string          // canonical
	operator bool
}

// NewCredentials returns the credentials of a configuration. The error lists all mistakes,
// without the secrets.
func NewCredentials(list []Credential) (*Credentials, error) {
	c := &Credentials{}
	c.current.Store(&set{})
	var errs []error
	for _, one := range list {
		errs = append(errs, c.add(one, true))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Add adds a credential at run time, such as that of an agent that the server starts. Unlike
// a configured one it does not make credentials required.
func (c *Credentials) Add(one Credential) error { return c.add(one, false) }

// Operator reports whether there is an operator with that name and secret. It takes the same time
// for right and wrong secrets.
func (c *Credentials) Operator(name, secret string) bool {
	e := c.current.Load().find(name, secret)
	return e != nil && e.operator
}

// Configured reports which kinds of credentials the configuration has.
func (c *Credentials) Configured() (agents, operators bool) {
	s := c.current.Load()
	return s.agents, s.operators
}

func (c *Credentials) add(one Credential, configured bool) error {
	e := entry{name: one.Name, hash: sha256.Sum256([]byte(string(one.Secret))), long: len(one.Secret) >= LongSecret, operator: one.Operator}
	switch {
	case one.Name == "" || strings.Contains(one.Name, ":"):
		return fmt.Errorf("credential %q: want a name without a colon", one.Name)
	case one.Secret == "":
		return fmt.Errorf("credential %q: its secret is empty", one.Name)
	case one.Operator && len(one.Agents) > 0:
		return fmt.Errorf("credential %q: an operator claims no tasks; remove the addresses of agents", one.Name)
	}
	for _, a := range one.Agents {
		url, err := address.Canonical(a)
		if err != nil {
			return fmt.Errorf("credential %q: %w", one.Name, err)
		}
		e.agents = append(e.agents, url)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := *c.current.Load()
	for _, other := range next.list {
		if other.name == e.name || other.hash == e.hash {
			return fmt.Errorf("credential %q: %q has the same name or secret", one.Name, other.name)
		}
	}
	next.list = append(slices.Clip(next.list), e)
	next.agents = next.agents || configured && !one.Operator
	next.operators = next.operators || configured && one.Operator
	c.current.Store(&next)
	return nil
}

// find returns the credential with that secret and name, and nil if there is none. An empty name
// matches any credential. find takes the same time for right and wrong secrets.
func (s *set) find(name, secret string) *entry {
	hash := sha256.Sum256([]byte(secret))
	var found *entry
	for i := range s.list {
		e := &s.list[i]
		if subtle.ConstantTimeCompare(hash[:], e.hash[:]) == 1 && (name == "" || name == e.name) {
			found = e
		}
	}
	return found
}

// lookup returns the credential that matches an Authorization header, and nil if there is none.
func (s *set) lookup(header string) *entry {
	scheme, rest, _ := strings.Cut(header, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "":
		return nil
	case strings.EqualFold(scheme, "Bearer"):
		return s.find("", rest)
	case strings.EqualFold(scheme, "Basic"):
		text, err := base64.StdEncoding.DecodeString(rest)
		name, secret, ok := strings.Cut(string(text), ":")
		if err != nil || !ok || name == "" {
			return nil
		}
		return s.find(name, secret)
	}
	return nil
}
