package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/queue"
)

// TestListIsHarmless: what others wrote makes no line, and steers no terminal.
func TestListIsHarmless(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	i := &inspection{p: program{stdout: &out}}
	err := i.printList([]queue.Info{{
		ID: "t-1\x1b[2J", State: queue.Failed, Repo: "octo-org/widgets\nt-2", Issue: 7, Agent: "http://a\u202e",
		Reason: "no\tanswer\r\nt-3  done \u009b2J\u200b", Enqueued: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
	}}, queue.Stats{States: map[queue.State]int{queue.Failed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := `TASK  STATE   ISSUE                   AGENT     ENQUEUED             REASON
t-1   failed  octo-org/widgets t-2#7  http://a  2026-11-20 10:00:00  no answer t-3 done 2J
0 pending, 0 claimed, 0 completed, 0 done, 1 failed; 0 held back
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
