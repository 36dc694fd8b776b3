package assembly

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestRunAll(t *testing.T) {
	t.Parallel()
	waits := part{"what waits", func(ctx context.Context) error { <-ctx.Done(); return nil }}
	tests := []struct {
		name string
		run  func(context.Context) error
		want string
	}{
		{"ends by itself", func(context.Context) error { return nil }, "the part: stopped unexpectedly"},
		{"fails", func(context.Context) error { return errors.New("no disk") }, "the part: no disk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			err := runAll(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), []part{waits, {"the part", tt.run}})
			if err == nil || err.Error() != tt.want || !strings.Contains(log.String(), `component="the part"`) {
				t.Errorf("got %v\n%s", err, log.String())
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := runAll(ctx, slog.New(slog.DiscardHandler), []part{waits}); err != nil {
		t.Errorf("told to stop: %v", err)
	}
}
