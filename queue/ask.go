package queue

import (
	"fmt"
	"strings"
)

// Texts of the entries that AskAgain adds to a task's log. Implementations use them.

// AskText is the text of the entry "asked again": after how many claims, and why.
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

// EarlierText is the text of the entry "earlier result": the state that the task had, its
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
