package effect_test

import (
	"context"
	"errors"
	"testing"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func TestGate(t *testing.T) {
	t.Parallel()
	closed := errors.New("not now")
	open := func(context.Context) error { return nil }
	shut := func(context.Context) error { return closed }
	tests := []struct {
		name string
		ctx  context.Context
		halt bool
	}{
		{"none", t.Context(), false},
		{"nil", effect.WithGate(t.Context(), nil), false},
		{"open", effect.WithGate(t.Context(), open), false},
		{"shut", effect.WithGate(t.Context(), shut), true},
		{"nil over a shut one", effect.WithGate(effect.WithGate(t.Context(), shut), nil), false},
		{"the inner one counts", effect.WithGate(effect.WithGate(t.Context(), open), shut), true},
	}
	for _, tt := range tests {
		err := effect.PassGate(tt.ctx)
		if errors.Is(err, triage.ErrHalted) != tt.halt || errors.Is(err, closed) != tt.halt || (err != nil) != tt.halt {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	// A gate gets the context of the request.
	type key struct{}
	ctx := effect.WithGate(t.Context(), func(ctx context.Context) error {
		if ctx.Value(key{}) != "request" {
			return closed
		}
		return nil
	})
	if err := effect.PassGate(context.WithValue(ctx, key{}, "request")); err != nil {
		t.Error(err)
	}
}
