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
		{"no error", nil, 0, "done", 0, "", "decision executed"},
		{"the first try", boom, 0, "again", time.Second, "boom", "executing a decision failed; it will be retried"},
		{"the second try", boom, 1, "again", 4 * time.Second, "boom", "executing a decision failed; it will be retried"},
		{"the third try", boom, 2, "again", 16 * time.Second, "boom", "executing a decision failed; it will be retried"},
		{"the seventh try", boom, 6, "again", 15 * time.Minute, "boom", "executing a decision failed; it will be retried"},
		{"the eighth try", boom, 7, "given_up", 0, "failed after 8 tries: boom", "executing a decision failed; its task failed"},
		{"a short limit", &rest.LimitError{}, 7, "given_off", time.Second, (&rest.LimitError{}).Error(), "decision released; it will be retried"},
		{"a limit of a minute", &rest.LimitError{Wait: time.Minute}, 7, "given_off", time.Minute, (&rest.LimitError{Wait: time.Minute}).Error(), "decision released; it will be retried"},
		{"a limit of a day", &rest.LimitError{Wait: 24 * time.Hour}, 0, "given_off", time.Hour, (&rest.LimitError{Wait: 24 * time.Hour}).Error(), "decision released; it will be retried"},
		{"an outage", executor.InOutage(boom, time.Minute), 7, "given_off", time.Minute, "boom", "executing a decision failed; it will be retried"},
		{"lost", fmt.Errorf("renew: %w", queue.ErrLost), 0, "lost", 0, "renew: " + queue.ErrLost.Error(), "decision leased by another server"},
		{"an unknown action", &triage.UnknownActionError{}, 0, "failed", 0, (&triage.UnknownActionError{}).Error(), "executing a decision failed; its task failed"},
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
