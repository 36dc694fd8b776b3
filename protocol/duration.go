package protocol

import (
	"time"

	"github.com/org/foreman-action/internal/duration"
)

// ParseDuration is [time.ParseDuration] with whole weeks and days before the rest, as in
// "1w2d12h": a day is 24 hours. The error is that of time.ParseDuration, or that there are more
// than 36500 days.
func ParseDuration(s string) (time.Duration, error) { return duration.Parse(s) }
