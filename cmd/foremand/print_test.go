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

// TestStory: all that people are told of a task, however hostile.
func TestStory(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		d    queue.Details
		want string
	}{
		{"nothing happened yet", queue.Details{Info: queue.Info{ID: "t-1", State: queue.Pending, Repo: "o/r", Issue: 7, Agent: "http://a", Enqueued: at}}, `task      t-1
issue     o/r#7
agent     http://a
state     pending
enqueued  2026-11-20 10:00:00
`},
		{"failed, with a log", queue.Details{
			Info: queue.Info{ID: "t-1", State: queue.Failed, Repo: "o/r", Issue: 7, Reason: "no answer", Enqueued: at},
			Log:  []queue.Entry{{At: at, What: "requeued", Who: "a\nstate  done", Text: "the claim ran out\x1b[2J"}},
		}, `task      t-1
issue     o/r#7
state     failed
enqueued  2026-11-20 10:00:00
reason    no answer

log
  2026-11-20 10:00:00  requeued a state done the claim ran out
`},
		{"carried out in part", queue.Details{
			Info: queue.Info{ID: "t-1", State: queue.Failed, Repo: "o/r", Issue: 7, Reason: "unknown", Enqueued: at},
			Report: []byte(`{"status":"partial","reason":"unknown action","event":"issues.opened","title":"a\u202eb\nstate done","decision":"label_and_respond",` +
				`"rationale":"it\tcrashes","by":"http://a","executed":1,"warnings":["careful"],"actions":[` +
				`{"index":0,"type":"add_label","action":{"type":"add_label","label":"bug"},"verdict":"do","result":"done"},` +
				`{"index":1,"type":"fly","action":{"type":"fly","how":"high","far":1},"verdict":"refuse","result":"none","reason":"unknown\naction"}]}`),
		}, `task      t-1
issue     o/r#7 ab state done
event     issues.opened
state     failed
enqueued  2026-11-20 10:00:00

decision  label_and_respond
why       it crashes
by        http://a
outcome   partial (1 written)
reason    unknown action
warning   careful

plan
  1. do       add_label  bug  done
  2. refuse   fly  {"far":1,"how":"high"}: unknown action
`},
		{"a report of who knows what", queue.Details{Info: queue.Info{ID: "t-1", State: queue.Done, Repo: "o/r", Issue: 7, Enqueued: at}, Report: []byte("[]")}, `task      t-1
issue     o/r#7
state     done
enqueued  2026-11-20 10:00:00
reason    the report cannot be read; --json shows it
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, story(tt.d)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
