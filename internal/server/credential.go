package server

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

// A Credential is what an agent or an operator shows: the secret as a bearer token, or
// name and secret as Basic authentication, which unchanged agents take from the userinfo
// of an address.
type Credential struct {
	Name   string      // must be set, and without ":"; no other one has it
	Secret secret.Text // must be set; no other one has it
	// Agents are the addresses of the agents for which tasks may be claimed with it, in any
	// form that address.Canonical takes; none: all.
	Agents []string
	// Operator says that it is a person's, who may see and change everything, but claim and
	// decide nothing. Agents is empty then.
	Operator bool
}

// Credentials are those that a server knows. They are safe for concurrent use.
type Credentials struct {
	mu    sync.Mutex // held by those who change known
	known atomic.Pointer[credentials]
}

// credentials do not change.
type credentials struct {
	list      []known
	agents    bool // some agent's credential was configured, not added at run time
	operators bool
}

type known struct {
	name     string
	hash     [sha256.Size]byte
	agents   []string
	operator bool
}

// NewCredentials returns those of a configuration. The error names what is wrong, and
// repeats no secret.
func NewCredentials(list []Credential) (*Credentials, error) {
	c := &Credentials{}
	c.known.Store(&credentials{})
	var errs []error
	for _, one := range list {
		errs = append(errs, c.add(one, false))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Add adds a credential at run time, such as that of an agent that the server starts by
// itself. It does not make the others need one: what was open to this machine stays open.
func (c *Credentials) Add(one Credential) error { return c.add(one, true) }

// Operator reports whether there is an operator of that name with that secret. A wrong
// one takes as long as the right one.
func (c *Credentials) Operator(name, secret string) bool {
	k := c.known.Load().find(name, secret)
	return k != nil && k.operator
}

// Configured reports which kinds of credentials the configuration has.
func (c *Credentials) Configured() (agents, operators bool) {
	k := c.known.Load()
	return k.agents, k.operators
}

func (c *Credentials) add(one Credential, added bool) error {
	k := known{name: one.Name, hash: sha256.Sum256([]byte(string(one.Secret))), operator: one.Operator}
	switch {
	case one.Name == "" || strings.Contains(one.Name, ":"):
		return fmt.Errorf("credential %q: want a name without a colon", one.Name)
	case one.Secret == "":
		return fmt.Errorf("credential %q: its secret is empty", one.Name)
	case one.Operator && len(one.Agents) > 0:
		return fmt.Errorf("credential %q: an operator claims nothing, and needs no addresses of agents", one.Name)
	}
	for _, a := range one.Agents {
		url, err := address.Canonical(a)
		if err != nil {
			return fmt.Errorf("credential %q: %w", one.Name, err)
		}
		k.agents = append(k.agents, url)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := *c.known.Load()
	for _, other := range next.list {
		if other.name == k.name || other.hash == k.hash {
			return fmt.Errorf("credential %q: %q has the same name or secret", one.Name, other.name)
		}
	}
	next.list = append(slices.Clip(next.list), k)
	next.agents = next.agents || !added && !one.Operator
	next.operators = next.operators || !added && one.Operator
	c.known.Store(&next)
	return nil
}

// find returns the credential with that secret; name is not looked at if it is empty.
// It takes the same time whichever it is, and for none.
func (c *credentials) find(name, secret string) *known {
	hash := sha256.Sum256([]byte(secret))
	var found *known
	for i := range c.list {
		k := &c.list[i]
		if subtle.ConstantTimeCompare(hash[:], k.hash[:]) == 1 && (name == "" || name == k.name) {
			found = k
		}
	}
	return found
}

// shown returns the credential that an Authorization header shows, and under which name;
// nil: none that is known.
func (c *credentials) shown(header string) (string, *known) {
	scheme, rest, _ := strings.Cut(header, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "":
		return "", nil
	case strings.EqualFold(scheme, "Bearer"):
		return "", c.find("", rest)
	case strings.EqualFold(scheme, "Basic"):
		text, err := base64.StdEncoding.DecodeString(rest)
		name, secret, ok := strings.Cut(string(text), ":")
		if err != nil || !ok || name == "" {
			return "", nil
		}
		return name, c.find(name, secret)
	}
	return "", nil
}
