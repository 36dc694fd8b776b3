package action

import (
	"errors"
	"testing"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/command"
)

// TestUnjoin shows each mistake in the inputs by itself.
func TestUnjoin(t *testing.T) {
	t.Parallel()
	joined := errors.Join(&actions.InputError{Name: "a", Problem: "p"}, &actions.InputError{Name: "b", Problem: "q"})
	if got := unjoin(command.Usage(command.Usage(joined))); len(got) != 2 {
		t.Errorf("got %d errors, want each input's own", len(got))
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	a := scopeOf(actions.Env{Job: "triage", Step: "one"})
	b := scopeOf(actions.Env{Job: "triage", Step: "two"})
	if a == b || a == "" || scopeOf(actions.Env{}) != "" {
		t.Errorf("got %q and %q", a, b)
	}
}
