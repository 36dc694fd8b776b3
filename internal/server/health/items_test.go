package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/health"
)

// TestItems lets a peer fail on an item and succeed on others. In the steps, "fail" is a failure on
// the item, "ok" a success on it, "other" a success on another item, and a duration passes.
func TestItems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, steps string
		failures    int // of the item, after the last step
		blamed      bool
	}{
		{"the first failure", "other fail", 1, false},
		{"an outage", "fail fail fail", 3, false},
		{"a bad item", "fail other fail", 2, true},
		{"a bad item, and then an outage", "fail other fail fail", 3, false},
		{"an item that succeeds", "fail ok fail", 1, false},
		{"an item that waited for two hours", "fail 2h other fail", 2, true},
		{"an item that is forgotten after a day", "fail 25h other fail", 1, false},
		{"a day without a success after the last one", "fail other 25h fail", 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var items health.Items
			var last *health.Item
			now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			for step := range strings.FieldsSeq(tt.steps) {
				switch step {
				case "fail":
					last = items.Fail("item", now)
				case "ok":
					items.Succeed("item", now)
				case "other":
					items.Succeed("other", now)
				default:
					d, err := time.ParseDuration(step)
					if err != nil {
						t.Fatal(err)
					}
					now = now.Add(d)
				}
			}
			if last.Failures != tt.failures || last.Blamed != tt.blamed || !last.Last.Equal(now) {
				t.Errorf("got %+v, want %d failures, blamed %t", last, tt.failures, tt.blamed)
			}
		})
	}
}
