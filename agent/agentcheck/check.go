package agentcheck

import (
	"context"
	"fmt"
)

// A check is a row in a table of checks.
type check struct {
	id   string
	wire string // Queue or Sync; empty: both
	must bool
	want string
	run  func(ctx context.Context, s *session) outcome
}

// An outcome is the result of a check.
type outcome struct {
	result Result
	got    string // the agent's behaviour
	stop   string // why the following checks are skipped; empty if they are made
}

func good(format string, args ...any) outcome {
	return outcome{result: OK, got: fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) outcome {
	return outcome{result: Failed, got: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) outcome {
	return outcome{result: Skipped, got: fmt.Sprintf(format, args...)}
}

// stopping returns an outcome after which the following checks are skipped.
func (o outcome) stopping(why string) outcome {
	o.stop = why
	return o
}
