package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
)

// TestTooManyValues refuses a decision with millions of values before it is decoded, whatever their
// position. Brackets and commas inside a string are not counted.
func TestTooManyValues(t *testing.T) {
	t.Parallel()
	const most = protocol.MaxDecisionValues
	decision := func(rest string) string {
		return `{"task_id":"t","decision":"skip","rationale":"r",` + rest + `}`
	}
	list := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	tests := []struct {
		name, data string
		many       bool
	}{
		{"actions", decision(`"actions":[` + list(`{"type":"x"}`, most/2-10) + `]`), false},
		{"too many actions", decision(`"actions":[` + list(`{"type":"x"}`, most/2+10) + `]`), true},
		{"numbers", decision(`"actions":[` + list("1", most+1) + `]`), true},
		{"fields", decision(list(`"a":1`, most+1)), true},
		{"parameters", decision(`"actions":[{"type":"x",` + list(`"a":1`, most+1) + `}]`), true},
		{"deep in a parameter", decision(`"actions":[{"type":"x","list":[` + list("[[]]", most/2) + `]}]`), true},
		{"a text of commas", decision(`"actions":[{"type":"x","body":"` + strings.Repeat(`,[{\",`, most) + `"}]`), false},
		{"a text after an escaped backslash", decision(`"a":"\\","actions":[` + list("1", most+1) + `]`), true},
		{"a text that does not end", decision(`"a":"` + list("1", most+1)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := protocol.TooManyValues([]byte(tt.data)); got != tt.many {
				t.Errorf("TooManyValues: got %v, want %v", got, tt.many)
			}
			_, err := protocol.ParseDecision([]byte(tt.data))
			bad, _ := errors.AsType[*protocol.ValidationError](err)
			if refused := bad != nil && bad.Problems[0].Code == protocol.CodeTooLong; refused != tt.many {
				t.Errorf("ParseDecision: got %v, want it to be refused for its size: %v", err, tt.many)
			}
		})
	}
}
