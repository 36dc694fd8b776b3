package filter

import (
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
