package queue

import (
	"fmt"
	"strings"
)

// Texts of the entries that AskAgain adds to a task's log. Implementations use them.

// AskText returns the text of the log entry "asked again": the number of claims so far, and the
// reason.
func AskText(attempt int, reason string) string {
	text := fmt.Sprintf("after claim %d", attempt)
	if attempt == 0 {
		text = "before any claim"
	}
	if reason != "" {
		text += ": " + reason
	}
	return CleanText(text)
}

// EarlierText returns the text of the log entry "earlier result": the state of the task, its
// reason, and the beginning of its decision.
func EarlierText(state State, reason string, decision []byte) string {
	parts := []string{string(state)}
	if reason != "" {
		parts = append(parts, reason)
	}
	if len(decision) > 0 {
		parts = append(parts, string(decision[:min(len(decision), 2*MaxText)]))
	}
	return CleanText(strings.Join(parts, ": "))
}
