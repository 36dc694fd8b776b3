package assembly

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

// runAll runs parts until ctx ends. They depend on each other: if a part ends earlier, runAll stops
// the others and returns an error, even if the part returned nil.
func runAll(ctx context.Context, log *slog.Logger, parts []part) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() {
			err := p.run(ctx)
			if err == nil && ctx.Err() == nil {
				err = errors.New("stopped unexpectedly")
			}
			if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
				errs[i] = fmt.Errorf("%s: %w", p.name, err)
				log.Error("server component failed; stopping the server", "component", p.name, "error", err)
			}
			stop()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
