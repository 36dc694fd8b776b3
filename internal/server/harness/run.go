package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// A part is something that runs until its context ends.
type part struct {
	name string
	run  func(ctx context.Context) error
}

// runAll runs parts until ctx ends, or one of them ends before: then the others are stopped
// too, for they have no sense without it, and that is an error, whatever the part says.
func runAll(ctx context.Context, log *slog.Logger, parts []part) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() {
			err := p.run(ctx)
			if err == nil && ctx.Err() == nil {
				err = errors.New("it ended by itself, which it must not")
			}
			if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
				errs[i] = fmt.Errorf("%s: %w", p.name, err)
				log.Error("a part of the server failed; it stops", "part", p.name, "error", err)
			}
			stop()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
