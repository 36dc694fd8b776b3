package executor

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
)

// Encode returns a report as the queue stores it.
func Encode(rep runner.Report) ([]byte, error) { return encode(rep) }

// Parse parses a decision like an attempt.
func Parse(dec queue.Decision) error {
	return (&attempt{dec: dec}).parse()
}

// Retry returns the retry decision after an attempt, with the maximum jitter, and the logged
// message.
func Retry(err error, tries, maxTries int) (status string, wait time.Duration, reason, message string) {
	d := makeRetryDecision(err, tries, maxTries, func() float64 { return 1 })
	var line strings.Builder
	d.log(context.Background(), slog.New(slog.NewTextHandler(&line, nil)))
	_, message, _ = strings.Cut(line.String(), `msg="`)
	message, _, _ = strings.Cut(message, `"`)
	return d.status, d.wait, d.reason, message
}

// InOutage wraps err like an error of an attempt during an outage of GitHub.
func InOutage(err error, wait time.Duration) error { return &outageError{err, wait} }
