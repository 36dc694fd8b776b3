package executor

import (
	"time"

	"github.com/org/foreman-action/queue"
)

// Parse parses a decision as an attempt does.
func Parse(dec queue.Decision) error {
	_, err := parse(dec)
	return err
}

// Retry returns the retry decision on an attempt, with the longest jitter.
func Retry(err error, tries, maxTries int) (status string, wait time.Duration, reason string) {
	d := makeRetryDecision(err, tries, maxTries, func() float64 { return 1 })
	return d.status, d.wait, d.reason
}
