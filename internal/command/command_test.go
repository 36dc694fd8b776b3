package command_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/org/foreman-action/internal/command"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	cause := errors.New("no answer")
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, command.ExitOK},
		{"a failure of nothing", command.Failed(nil), command.ExitOK},
		{"a mistake", cause, command.ExitUsage},
		{"a failure", command.Failed(cause), command.ExitFailed},
		{"a failure within", fmt.Errorf("ask: %w", command.Failed(cause)), command.ExitFailed},
		{"a reported error", fmt.Errorf("ask: %w", command.Reported(command.ExitFailed)), command.ExitFailed},
		{"reported success", command.Reported(command.ExitOK), command.ExitOK},
		{"a usage error", command.Usagef("want %d", 1), command.ExitUsage},
		{"a usage error about a failure", command.Usage(command.Failed(cause)), command.ExitFailed},
		{"a failure among others", errors.Join(errors.New("other"), command.Failed(cause)), command.ExitFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := command.ExitCode(tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if err := command.Failed(cause); !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("got %v, want it to be the cause", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := command.Version("v1.2.3"); got != "v1.2.3" {
		t.Errorf("got %q", got)
	}
	if got := command.Version(""); got == "" {
		t.Error("a build without a version has none")
	}
}
