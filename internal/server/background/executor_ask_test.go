package background_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// ask requests another decision on an issue's task, and sends the agent's new decision.
func (r *rig) ask(issue int, actions ...string) {
	r.t.Helper()
	if _, err := r.q.AskAgain(r.t.Context(), queue.Seen{ID: id(issue)}, "ada", "the prompt was fixed"); err != nil {
		r.t.Fatal(err)
	}
	if task, _ := r.claim(time.Hour); task != id(issue) {
		r.t.Fatalf("claimed %q", task)
	}
	r.complete(issue, actions...)
	time.Sleep(time.Minute)
}

// TestAskAgain requests a second decision on a done task. The executor must write the changes of
// the second decision once, even if the first one had actions of the same kinds. It must skip
// changes that the issue already has.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.config = "policy: {comment_interval: 0, limits: {comment: 2}}\n"
		r.enqueue(1)
		r.complete(1, comment, addLabel)
		r.start()
		time.Sleep(time.Minute)
		r.is(1, queue.Done)
		r.ask(1, `{"type":"comment","body":"hello again"}`, addLabel, `{"type":"add_label","label":"bug"}`)
		r.is(1, queue.Done)
		r.wrote(on(1, talkPost, labelPost, talkPost, labelPost)...)
		if rep := r.report(1); rep.Executed != 2 || len(rep.Actions) != 3 || rep.Actions[1].Reason != "already there" {
			r.t.Errorf("got %+v", rep)
		}
		r.ask(1, comment, `{"type":"comment","body":"at last"}`) // comment is already written
		r.is(1, queue.Done)
		r.wrote(on(1, talkPost, labelPost, talkPost, labelPost, talkPost)...)
		if rep := r.report(1); rep.Executed != 1 || rep.Actions[0].Verdict != triage.Skip {
			r.t.Errorf("got %+v", rep)
		}
		if d := r.task(1); d.Asks != 2 {
			r.t.Errorf("got %+v", d.Info)
		}
	})
}

// TestAskAgainFailed requests another decision after one that failed half-way. The new decision
// must be executed completely and only once, even if the response to a write is lost.
func TestAskAgainFailed(t *testing.T) {
	t.Parallel()
	for cut := range 4 {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(r *rig) {
				r.config = "policy: {comment_interval: 0, limits: {comment: 2}}\n"
				r.enqueue(1)
				r.complete(1, comment, nonsense)
				_, stop := r.start()
				time.Sleep(time.Minute)
				r.is(1, queue.Failed)
				stop()
				if cut > 0 { // lose the response to the write with this number
					r.gh.Fault(githubtest.Fault{Method: http.MethodPost, Nth: cut, Times: 1, CutAfter: true})
				}
				r.start()
				r.ask(1, `{"type":"comment","body":"other"}`, addLabel)
				time.Sleep(time.Hour)
				r.is(1, queue.Done)
				var got []string
				for _, line := range r.writes() {
					got = append(got, strings.TrimSuffix(line, " cut"))
				}
				if want := on(1, talkPost, talkPost, labelPost); !slices.Equal(got, want) {
					r.t.Errorf("got writes %q, want %q", got, want)
				}
			})
		})
	}
}

// TestAskAgainCooldown uses the default policy: the comment of the second decision is suppressed,
// because it comes too soon after the first one.
func TestAskAgainCooldown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		r.enqueue(1)
		r.complete(1, comment)
		r.start()
		time.Sleep(time.Minute)
		r.ask(1, `{"type":"comment","body":"other"}`, addLabel)
		r.wrote(on(1, talkPost, labelPost)...)
	})
}
