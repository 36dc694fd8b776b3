package effect

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/triage"
)

// Written is the result of a write, as the host returns it.
type Written struct {
	Comment  triage.Comment // the posted or replaced comment
	Accepted []string       // the logins that were assigned; a host drops others without an error
	// Held are the names of an effect with an [Intent] that the issue does not have after the write,
	// because they wait for a person. Names that the issue had before are not among them.
	Held []string
	// Overtaken are the names of such an effect that the host ignored, because they hold already or
	// the issue is closed.
	Overtaken []string
	// Missing are the names of labels that the repository does not have any more; see [AddLabels]. The
	// issue does not have them either.
	Missing []string
}

type gateKey struct{}

// WithGate returns a context with a gate. A host calls the gate before each request that may change
// something, also before a repeated one. The gate checks again whether the write is still
// permitted, because time may have passed since the decision: the host waited for a rate limit, or
// the process was suspended. The gate may wait, gets the context of the request, and may be called
// by several goroutines. Its error stops the request, and the run like [triage.ErrHalted]. A nil
// gate permits everything, even if ctx already has a gate.
func WithGate(ctx context.Context, gate func(context.Context) error) context.Context {
	return context.WithValue(ctx, gateKey{}, gate)
}

// PassGate calls the gate of a context, if there is one. On an error, which matches
// [triage.ErrHalted], the host must not send the request.
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
