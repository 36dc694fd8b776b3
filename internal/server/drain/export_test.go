package drain

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
)

// Parse reads a decision as it is carried out.
func Parse(dec queue.Decision) error {
	_, err := parse(dec)
	return err
}

// Turned returns how long each of those has to stay away who ask for a write when there is
// none to be had.
func Turned(ctx context.Context, n, perMinute, perHour int) []time.Duration {
	l := limiter{perMinute: perMinute, perHour: perHour}
	for range perMinute {
		l.take(ctx, "bot", time.Hour)
	}
	var list []time.Duration
	for range n {
		if wait, ok := l.ready("bot", 0); !ok {
			list = append(list, wait)
		}
	}
	return list
}
