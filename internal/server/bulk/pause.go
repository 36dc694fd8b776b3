package bulk

import (
	"context"
	"log/slog"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/queue"
)

// LogPause logs a pause by an operator.
func LogPause(ctx context.Context, log *slog.Logger, p queue.Pause, already bool, by string) {
	log.LogAttrs(ctx, slog.LevelInfo, "an operator paused", slog.String("scope", logText(p.Scope.String())), slog.String("by", logText(by)), slog.String("reason", logText(p.Reason)),
		slog.Bool("already_paused", already), slog.Int("claimed", p.Claimed), slog.Int("draining", p.Draining))
}

// LogResume logs the end of a pause by an operator. If found is false, only the scope of p is set, and it
// was not paused.
func LogResume(ctx context.Context, log *slog.Logger, p queue.Pause, found bool, by string) {
	attrs := []slog.Attr{slog.String("scope", logText(p.Scope.String())), slog.String("by", logText(by)), slog.Bool("was_paused", found)}
	if found {
		attrs = append(attrs, slog.String("paused_by", logText(p.By)), slog.Time("since", p.At))
	}
	log.LogAttrs(ctx, slog.LevelInfo, "an operator resumed", attrs...)
}

func logText(s string) string { return sanitize.Name(s[:min(len(s), 80)]) }
