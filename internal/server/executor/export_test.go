package executor

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// Parse parses a decision as an attempt does.
func Parse(dec queue.Decision) error {
	_, err := parse(dec)
	return err
}

// Retry returns the retry decision on an attempt, with the longest jitter, and the message that
// is logged.
func Retry(err error, tries, maxTries int) (status string, wait time.Duration, reason, message string) {
	d := makeRetryDecision(err, tries, maxTries, func() float64 { return 1 })
	var line strings.Builder
	d.log(context.Background(), slog.New(slog.NewTextHandler(&line, nil)))
	_, message, _ = strings.Cut(line.String(), `msg="`)
	message, _, _ = strings.Cut(message, `"`)
	return d.status, d.wait, d.reason, message
}

// InOutage returns err as the error of an attempt during an outage of GitHub.
func InOutage(err error, wait time.Duration) error { return &outageError{err, wait} }
