package health_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/health"
)

// TestPeer checks when failures of one second each open a peer, and when it is tried again.
func TestPeer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy health.Policy
		opens  int // the failure that opens it
	}{
		{"the first failure", health.Policy{}, 1},
		{"the number of failures", health.Policy{Failures: 3}, 3},
		{"their time", health.Policy{Failures: 2, Lasting: 5 * time.Second}, 5},
		{"their number after their time", health.Policy{Failures: 4, Lasting: time.Second}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			p := health.Peer{Policy: tt.policy}
			end := first
			for n := 1; n <= tt.opens+2; n++ {
				begin := end
				end = begin.Add(time.Second)
				if opened := p.Fail(begin, end, "down"); opened != (n == tt.opens) || p.Open != (n >= tt.opens) {
					t.Errorf("failure %d: opened %t, open %t", n, opened, p.Open)
				}
			}
			p.Probe = end.Add(time.Minute)
			if got := p.State(p.Probe.Add(-1)); got != health.Open {
				t.Errorf("before the probe: got state %d", got)
			}
			if got := p.State(p.Probe); got != health.HalfOpen {
				t.Errorf("at the probe: got state %d", got)
			}
			if before := p.Succeed(); !before.Open || before.Failures != tt.opens+2 || !before.Since.Equal(first) || before.Err != "down" {
				t.Errorf("got %+v before the success", before)
			}
			if p.State(end) != health.Closed || p.Failures != 0 || p.Policy != tt.policy {
				t.Errorf("got %+v after the success", p)
			}
		})
	}
}
