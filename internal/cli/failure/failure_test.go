package failure

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	joined := errors.Join(&actions.InputError{Name: "a", Problem: "p"}, &actions.InputError{Name: "b", Problem: "q"})
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"none", nil, 0},
		{"a mistake in a file", fmt.Errorf("x: %w", yamlfile.Problems{{File: "f", Message: "m"}}), 2},
		{"no host", fmt.Errorf("x: %w", triage.ErrNeedsHost), 2},
		{"no token", fmt.Errorf("x: %w", ErrNoToken), 2},
		{"usage", command.Usagef("x"), 2},
		{"inputs", command.Usage(joined), 2},
		{"an agent", &runner.AgentError{Err: errors.New("x")}, 1},
		{"a permission", &triage.PermissionError{Need: "issues: write", Err: errors.New("x")}, 1},
		{"an unknown action", &triage.UnknownActionError{Type: "x"}, 1},
		{"anything else", errors.New("x"), 1},
		{"cancelled", context.Canceled, 1},
	}
	for _, tt := range tests {
		if got := command.ExitCode(Classify(tt.err)); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAdvise checks that users of commands read where they set a token.
func TestAdvise(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("evaluate rule a: look up x: %w", triage.ErrNeedsHost)
	if got, want := Advise(err.Error()), "evaluate rule a: look up x: "+ErrNoToken.Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Advise("the disk is full"); got != "the disk is full" {
		t.Errorf("another text: got %q", got)
	}
}
