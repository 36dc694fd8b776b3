package telemetry

import (
	"context"
	"errors"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/store"
)

// Progress returns p with counted errors.
func (t *Telemetry) Progress(p store.Progress) store.Progress {
	if t == nil {
		return p
	}
	return measuredProgress{p, t.metrics}
}

type measuredProgress struct {
	store.Progress

	metrics *metrics
}

// Advance implements [store.Progress].
func (p measuredProgress) Advance(ctx context.Context, s store.Step) (store.Advanced, error) {
	out, err := p.Progress.Advance(ctx, s)
	if !errors.Is(err, memory.ErrConflict) {
		p.metrics.countError("advance", err)
	}
	return out, err
}
