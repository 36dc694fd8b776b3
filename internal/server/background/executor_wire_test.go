package background_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// asked fails the test if GitHub received any request.
func (r *rig) asked() {
	r.t.Helper()
	if calls := r.gh.Log(); len(calls) > 0 {
		r.t.Errorf("got calls %q, want none", calls)
	}
}

func on(issue int, calls ...string) []string {
	var list []string
	for _, c := range calls {
		list = append(list, fmt.Sprintf(c, issue))
	}
	return list
}

// TestDecisions checks the wire document's requirements for decisions. Each case has the number of
// its check.
func TestDecisions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(r *rig)
	}{
		{"12 the actions run at once", func(r *rig) {
			r.o.Executor.Interval = time.Hour
			r.start()
			synctest.Wait()
			start := time.Now()
			r.enqueue(1)
			r.complete(1, addLabel, comment)
			synctest.Wait()
			r.is(1, queue.Done)
			if took := time.Since(start); took > 0 {
				r.t.Errorf("it took %s", took)
			}
			r.wrote(on(1, labelPost, talkPost)...)
		}},
		{"17 18 an unknown action ends the list, once", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.complete(1, comment, nonsense, addLabel)
			time.Sleep(2 * time.Hour)
			r.is(1, queue.Failed)
			r.wrote(on(1, talkPost)...)
			if rep := r.report(1); rep.Executed != 1 || len(rep.Actions) != 3 {
				r.t.Errorf("got report %+v", rep)
			}
		}},
		{"20 a second decision is not carried out", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.complete(1, addLabel)
			synctest.Wait()
			r.complete(1, comment)
			time.Sleep(time.Hour)
			r.is(1, queue.Done)
			r.wrote(on(1, labelPost)...)
		}},
		{"43 closing is not allowed", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.decide(1, decision(1, protocol.Close, closeIt, comment))
			synctest.Wait()
			r.is(1, queue.Done)
			r.wrote(on(1, talkPost)...)
		}},
		{"43 closing is allowed", func(r *rig) {
			r.config = "policy: {allow_close: true}\n"
			r.start()
			r.enqueue(1)
			r.decide(1, decision(1, protocol.Close, closeIt))
			synctest.Wait()
			r.is(1, queue.Done)
			r.wrote(on(1, issueEdit)...)
		}},
		{"44 with the token, on the issue", func(r *rig) {
			r.start()
			r.enqueue(2)
			r.complete(2, comment)
			synctest.Wait()
			r.wrote(on(2, talkPost)...)
			for _, c := range r.gh.Calls() {
				if got := c.Header.Get("Authorization"); got != "Bearer "+token {
					r.t.Errorf("%s: got authorization %q", c, got)
				}
			}
		}},
		{"45 skip writes nothing", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.decide(1, decision(1, protocol.Skip, comment, addLabel))
			synctest.Wait()
			r.is(1, queue.Done)
			r.asked()
		}},
		{"45 escalate writes nothing", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.decide(1, decision(1, protocol.Escalate, comment, nonsense))
			synctest.Wait()
			r.is(1, queue.Done)
			r.asked()
		}},
		{"60 a label that does not exist is not made", func(r *rig) {
			r.start()
			r.enqueue(1)
			r.complete(1, `{"type":"add_label","label":"made-up"}`, comment)
			synctest.Wait()
			r.is(1, queue.Done)
			r.wrote(on(1, talkPost)...)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, tt.test)
		})
	}
}
