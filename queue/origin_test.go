package queue_test

import (
	"testing"

	"github.com/org/foreman-action/queue"
)

// TestParseOrigin parses origins of this program and of others.
func TestParseOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data string
		want       queue.Origin
		fails      bool
	}{
		{"of a webhook", `{"event":"issues","delivery":"d-1","trace":"00-1","source":"webhook"}`, queue.Origin{Event: "issues", Delivery: "d-1", Trace: "00-1", Source: queue.SourceWebhook}, false},
		{"none", "", queue.Origin{}, false},
		{"null", "null", queue.Origin{}, false},
		{"of a newer version", `{"event":"issues","more":[1]}`, queue.Origin{Event: "issues"}, false},
		{"one wrong field", `{"event":"issues","delivery":7,"source":"poll"}`, queue.Origin{Event: "issues", Source: queue.SourcePoll}, true},
		{"a list", `["issues"]`, queue.Origin{}, true},
		{"no JSON", `issues`, queue.Origin{}, true},
	}
	for _, tt := range tests {
		if got, err := queue.ParseOrigin([]byte(tt.data)); got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}
