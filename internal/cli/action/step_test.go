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
	one, two := actions.Env{Job: "triage", Step: "one"}, actions.Env{Job: "triage", Step: "two"}
	tests := []struct {
		env   actions.Env
		index int
		want  string
	}{
		// The scopes without a matrix must not change, because comments and journals contain them.
		{one, 0, "daf0aac3"}, {one, 2, "daf0aac3.2"}, {two, 0, "368a233d"}, {actions.Env{}, 0, ""}, {actions.Env{}, 2, ""},
	}
	for _, tt := range tests {
		if got := scopeOf(tt.env, tt.index); got != tt.want {
			t.Errorf("%+v, %d: got %q, want %q", tt.env, tt.index, got, tt.want)
		}
	}
}
