package executor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// TestRetry checks whether and when a decision is tried again, with a maximum of eight tries.
func TestRetry(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom\nstack")
	tests := []struct {
		name   string
		err    error
		tries  int
		status string
		wait   time.Duration
		reason string
		logs   string
	}{
		{"no error", nil, 0, "done", 0, "", "decision carried out"},
		{"the first try", boom, 0, "again", time.Second, "boom", "attempt to carry out a decision failed; it is retried"},
		{"the second try", boom, 1, "again", 4 * time.Second, "boom", "attempt to carry out a decision failed; it is retried"},
		{"the third try", boom, 2, "again", 16 * time.Second, "boom", "attempt to carry out a decision failed; it is retried"},
		{"the seventh try", boom, 6, "again", 15 * time.Minute, "boom", "attempt to carry out a decision failed; it is retried"},
		{"the eighth try", boom, 7, "given_up", 0, "given up after 8 tries: boom", "decision not carried out; its task failed"},
		{"a short limit", &rest.LimitError{}, 7, "given_off", time.Second, (&rest.LimitError{}).Error(), "decision released; it is retried"},
		{"a limit of a minute", &rest.LimitError{Wait: time.Minute}, 7, "given_off", time.Minute, (&rest.LimitError{Wait: time.Minute}).Error(), "decision released; it is retried"},
		{"a limit of a day", &rest.LimitError{Wait: 24 * time.Hour}, 0, "given_off", time.Hour, (&rest.LimitError{Wait: 24 * time.Hour}).Error(), "decision released; it is retried"},
		{"an outage", executor.InOutage(boom, time.Minute), 7, "given_off", time.Minute, "boom", "attempt to carry out a decision failed; it is retried"},
		{"lost", fmt.Errorf("renew: %w", queue.ErrLost), 0, "lost", 0, "renew: " + queue.ErrLost.Error(), "decision left to another server"},
		{"an unknown action", &triage.UnknownActionError{}, 0, "failed", 0, (&triage.UnknownActionError{}).Error(), "decision not carried out; its task failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, wait, reason, message := executor.Retry(tt.err, tt.tries, 8)
			if status != tt.status || wait != tt.wait || reason != tt.reason || message != tt.logs {
				t.Errorf("got %s after %s, %q, %q; want %s after %s, %q, %q", status, wait, reason, message, tt.status, tt.wait, tt.reason, tt.logs)
			}
		})
	}
}
