package hub

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/github/rest"
)

// TestThrottle classifies answers by their status, headers and body.
func TestThrottle(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 4, 12, 0, 0, 0, time.UTC)
	pause, reset := 42*time.Second, now.Add(90*time.Second)
	const secondary = "You have exceeded a secondary rate limit. Please wait before retrying."
	tests := []struct {
		name    string
		answer  rest.AnswerError
		kind    string // empty: no rate limit
		seconds int    // -1: null
		at      time.Time
	}{
		{"a secondary one without headers", rest.AnswerError{Status: 403, Message: secondary}, contract.SecondaryLimit, -1, time.Time{}},
		{"with a pause", rest.AnswerError{Status: 429, Message: secondary, RetryAfter: &pause}, contract.SecondaryLimit, 42, now.Add(pause)},
		{"by its documentation", rest.AnswerError{Status: 403, Docs: "https://docs.github.com/rest/x#about-secondary-rate-limits"}, contract.SecondaryLimit, -1, time.Time{}},
		{"the old name", rest.AnswerError{Status: 403, Docs: "https://developer.github.com/v3/#abuse-rate-limits"}, contract.SecondaryLimit, -1, time.Time{}},
		{"the hour is used up", rest.AnswerError{Status: 403, Message: "API rate limit exceeded", Spent: true, Reset: reset}, contract.PrimaryLimit, 90, reset},
		{"the hour is used up, with 429", rest.AnswerError{Status: 429, Spent: true, Reset: reset}, contract.PrimaryLimit, 90, reset},
		{"the reset is over", rest.AnswerError{Status: 403, Spent: true, Reset: now.Add(-time.Second)}, contract.PrimaryLimit, 0, now.Add(-time.Second)},
		{"no reset", rest.AnswerError{Status: 403, Spent: true}, contract.PrimaryLimit, -1, time.Time{}},
		{"both: secondary wins, and the reset is not its pause", rest.AnswerError{Status: 403, Message: secondary, Spent: true, Reset: reset}, contract.SecondaryLimit, -1, time.Time{}},
		{"429 with neither", rest.AnswerError{Status: 429}, contract.SecondaryLimit, -1, time.Time{}},
		{"403 with a pause alone", rest.AnswerError{Status: 403, RetryAfter: &pause}, contract.SecondaryLimit, 42, now.Add(pause)},
		{"403 for another reason", rest.AnswerError{Status: 403, Message: "Resource not accessible by integration"}, "", -1, time.Time{}},
		{"another status", rest.AnswerError{Status: 503, Message: secondary, RetryAfter: &pause}, "", -1, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, throttled := throttle(&tt.answer, now)
			if got.Kind != tt.kind && throttled || throttled != (tt.kind != "") {
				t.Fatalf("got %q, %t, want %q", got.Kind, throttled, tt.kind)
			}
			seconds, at := -1, time.Time{}
			if got.RetryAfterSeconds != nil {
				seconds = *got.RetryAfterSeconds
			}
			if got.RetryAfterAt != nil {
				at = time.Time(*got.RetryAfterAt)
			}
			if diff := cmp.Diff([]any{tt.seconds, tt.at}, []any{seconds, at}); throttled && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if throttled && got.Message == "" {
				t.Error("no message")
			}
		})
	}
}
