package filter

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/queue"
)

// Scope returns the scope of a pause as the queue compares it: with the canonical address of its agent.
// The error is why the scope is invalid.
func Scope(s queue.Scope) (queue.Scope, error) {
	if s.Kind == queue.ScopeAgent {
		name, err := address.Canonical(s.Name)
		if err != nil {
			return s, err
		}
		s.Name = name
	}
	return s, s.Check()
}

// Configured are the agents and the repositories of a configuration. Nil: they are not known.
type Configured struct {
	agents, repos []string
}

// NewConfigured returns the agents with these addresses, and the repositories "owner/name".
func NewConfigured(agents, repos []string) *Configured {
	c := &Configured{repos: repos}
	for _, a := range agents {
		if name, err := address.Canonical(a); err == nil {
			a = name
		}
		c.agents = append(c.agents, a)
	}
	return c
}

// Warning returns why a pause of the scope may hold nothing: its agent or repository is not configured, so
// its name may be misspelt. s is a result of Scope. Empty: there is nothing to warn of, or c is nil.
func (c *Configured) Warning(s queue.Scope) string {
	if c == nil {
		return ""
	}
	named := func(name string) bool { return strings.EqualFold(name, s.Name) }
	switch {
	case s.Kind == queue.ScopeAgent && !slices.Contains(c.agents, s.Name):
		return "no configured agent has this address"
	case s.Kind == queue.ScopeRepo && !slices.ContainsFunc(c.repos, named):
		return "this repository is not configured"
	}
	return ""
}
