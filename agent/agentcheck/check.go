package agentcheck

import (
	"context"
	"fmt"
)

// A check is a row of a table.
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
	stop   string // why the checks after it are skipped; empty: they are made
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

// stopping is an outcome that makes other checks useless.
func (o outcome) stopping(why string) outcome {
	o.stop = why
	return o
}
