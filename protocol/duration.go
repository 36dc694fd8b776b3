package protocol

import (
	"time"

	"github.com/org/foreman-action/internal/duration"
)

// ParseDuration is [time.ParseDuration] with whole weeks and days in front, as in "1w2d12h". A day
// is 24 hours. Besides the errors of time.ParseDuration, more than 36500 days are an error.
func ParseDuration(s string) (time.Duration, error) { return duration.Parse(s) }
