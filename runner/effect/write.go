package effect

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/triage"
)

// Written is a host's report on a write.
type Written struct {
	Comment  triage.Comment // the one that was posted or replaced
	Accepted []string       // the logins that were assigned: a host drops others silently
}

type gateKey struct{}

// WithGate returns a context under which a host calls gate before each request that may
// change something, also before one that it repeats. Between the decision to write and the
// request time may pass: a limit is waited for, or the whole process is suspended. The gate's
// error stops the request, and the run as [triage.ErrHalted] does. It may be called by several
// goroutines, may wait, and gets the context of the request. Nil: none, whatever the context
// has.
func WithGate(ctx context.Context, gate func(context.Context) error) context.Context {
	return context.WithValue(ctx, gateKey{}, gate)
}

// PassGate asks the gate of a context before such a request. On an error, which matches
// [triage.ErrHalted], the host must not send it. Without a gate the error is nil.
func PassGate(ctx context.Context) error {
	gate, ok := ctx.Value(gateKey{}).(func(context.Context) error)
	if !ok || gate == nil {
		return nil
	}
	if err := gate(ctx); err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}
