package agent

import (
	"testing"
	"time"

	"github.com/org/foreman-action/protocol"
)

// TestLease checks that no lease of a harness makes a worker send heartbeats without a pause.
func TestLease(t *testing.T) {
	t.Parallel()
	tests := []struct {
		claim       *protocol.TaskClaim
		lease, beat time.Duration
	}{
		{nil, publishedLease, publishedBeat},
		{&protocol.TaskClaim{}, publishedLease, publishedBeat},
		{&protocol.TaskClaim{Lease: -1}, publishedLease, publishedBeat},
		{&protocol.TaskClaim{Lease: 1}, time.Second, time.Second / 3},
		{&protocol.TaskClaim{Lease: 1 << 40}, maxLease * time.Second, publishedBeat},
	}
	for _, tt := range tests {
		task := protocol.TaskMessage{Claim: tt.claim}
		if l, b := lease(task), beat(task); l != tt.lease || b != tt.beat {
			t.Errorf("%+v: got the lease %v and a heartbeat each %v, want %v and %v", tt.claim, l, b, tt.lease, tt.beat)
		}
	}
}
