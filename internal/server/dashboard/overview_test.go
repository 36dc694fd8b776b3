package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/queue"
)

// TestTiles checks that each task is counted in exactly one tile.
func TestTiles(t *testing.T) {
	t.Parallel()
	s := queue.Stats{
		States: map[queue.State]int{queue.Pending: 9, queue.Claimed: 3, queue.Completed: 8, queue.Done: 40, queue.Failed: 2},
		Held:   6, Draining: 1, // 4 pending tasks and 2 completed tasks are delayed
		Agents: []queue.AgentStats{{Agent: "a", Pending: 5, Held: 1}, {Agent: "b", Pending: 4, Held: 3, Claimed: 3}},
	}
	o := newOverview(queue.Filter{}, snapshot{counts: counts{stats: s}}, links{})
	if want := "5 queued, 6 delayed, 3 running, 5 decided, 1 applying, 40 done, 2 failed"; o.Summary != want {
		t.Errorf("got %s\nwant %s", o.Summary, want)
	}
	if o.Total != "62 tasks in all" {
		t.Errorf("got %s", o.Total)
	}
}

// TestHealthSection checks that working parts are summarized in one line.
func TestHealthSection(t *testing.T) {
	t.Parallel()
	parts := make([]Health, 8)
	for i := range parts {
		parts[i] = Health{Name: fmt.Sprint("part ", i), OK: true}
	}
	s := newHealthSection(parts)
	if s.Text != "8 parts are healthy" || len(s.Bad) != 0 || len(s.Good) != 8 {
		t.Errorf("got %+v", s)
	}
	parts[3].OK = false
	if s = newHealthSection(parts); s.Text != "1 part is unhealthy; 7 others are healthy" || len(s.Bad) != 1 || s.Bad[0].Name != "part 3" {
		t.Errorf("got %+v", s)
	}
	if s = newHealthSection(nil); s.Text != "" {
		t.Errorf("nothing is known: got %+v", s)
	}
}

// TestAgentRows checks the percentage of done tasks, and the percentiles of the durations.
func TestAgentRows(t *testing.T) {
	t.Parallel()
	var recent []queue.Info
	for n := range 100 { // task n waits n s, and takes 2n s to decide; each tenth fails
		at := noon().Add(time.Duration(n) * time.Hour)
		i := queue.Info{
			Agent: "a", State: queue.Done, Enqueued: at, Claimed: at.Add(time.Duration(n) * time.Second), Completed: at.Add(time.Duration(3*n) * time.Second),
		}
		if n%10 == 0 {
			i.State = queue.Failed
		}
		recent = append(recent, i)
	}
	recent = append(recent,
		queue.Info{Agent: "a", State: queue.Failed, Reason: "cancelled by ada", Enqueued: noon(), Claimed: noon().Add(time.Hour)},
		queue.Info{Agent: "b", State: queue.Done, Enqueued: noon(), Completed: noon()}, // decided on without a claim
		queue.Info{State: queue.Done, Enqueued: noon()},                                // by the server's rules
	)
	open := []queue.AgentStats{{Agent: "a", Pending: 5, Held: 2, Claimed: 1}, {Agent: "c", Claimed: 1}}
	got := fmt.Sprintf("%+v", agentRows(open, recent))
	want := "[{Name:a URL:/?agent=a Waiting:3 Held:2 Claimed:1 Success:90 % of 100 Wait:{P50:49 s P99:98 s} Decide:{P50:98 s P99:3 min}}" +
		" {Name:b URL:/?agent=b Waiting:0 Held:0 Claimed:0 Success:100 % of 1 Wait:{P50: P99:} Decide:{P50: P99:}}" +
		" {Name:c URL:/?agent=c Waiting:0 Held:0 Claimed:1 Success: Wait:{P50: P99:} Decide:{P50: P99:}}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestButtons checks the buttons for each state.
func TestButtons(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]queue.Info{
		"cancel":           {Agent: "a", State: queue.Pending},
		"retry cancel":     {Agent: "a", State: queue.Pending, Held: true},
		"cancel ":          {Agent: "a", State: queue.Claimed},
		"cancel  ":         {Agent: "a", State: queue.Completed},
		"retry cancel ":    {Agent: "a", State: queue.Completed, Held: true},
		"":                 {Agent: "a", State: queue.Completed, Draining: true},
		"ask-again":        {Agent: "a", State: queue.Done},
		"ask-again ":       {Agent: "a", State: queue.Failed},
		"retry ask-again":  {Agent: "a", State: queue.Failed, Completed: noon()},
		"retry ask-again ": {State: queue.Failed, Completed: noon()},
	} {
		var verbs []string
		for _, b := range buttons(i) {
			verbs = append(verbs, b.Verb)
		}
		if got := strings.Join(verbs, " "); got != strings.TrimSpace(want) {
			t.Errorf("%+v: got %q", i, got)
		}
	}
}

// TestButtonsInList checks that the buttons in the list lead back to the list.
func TestButtonsInList(t *testing.T) {
	t.Parallel()
	q := oneFailed()
	var seen []observe.Observation
	d := serve(t, Options{Queue: q, Operators: ada, Observe: func(o observe.Observation) { seen = append(seen, o) }})
	page := text(t, call{path: "/?state=failed", auth: true}.do(t, d))
	for _, part := range []string{`action="/tasks/id-1/ask-again"`, `<input type="hidden" name="from" value="/?state=failed">`} {
		if !strings.Contains(page, part) {
			t.Errorf("the list has no %s", part)
		}
	}
	if page := text(t, call{path: "/?state=failed"}.do(t, serve(t, Options{Queue: q}))); strings.Contains(page, "<button class") {
		t.Error("without operators there are buttons")
	}
	tests := []struct{ verb, form, to, did string }{
		{"ask-again", "from=%2F%3Fstate%3Dfailed", "/?state=failed&did=asked", "ask id-1 ada "},
		{"ask-again", "reason=a+fixed+prompt", "/tasks/id-1?did=asked", "ask id-1 ada a fixed prompt"},
		{"retry", "from=%2F", "/?did=retried", "retry id-1 ada"},
		{"cancel", "from=https%3A%2F%2Fevil.example", "/?did=cancelled", "cancel id-1 ada"},
		{"cancel", "from=%2F%2Fevil.example%2F", "/?did=cancelled", "cancel id-1 ada"},
	}
	for _, tt := range tests {
		q.did, seen = nil, nil
		r := call{method: http.MethodPost, path: "/tasks/id-1/" + tt.verb, body: tt.form, auth: true, origin: own}.do(t, d)
		if len(seen) != 1 || seen[0] != (observe.Observation{Event: observe.OperatorChanged, Status: tt.verb, N: 1}) {
			t.Errorf("%s: observed %+v", tt.verb, seen)
		}
		if to := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || to != tt.to || len(q.did) != 1 || q.did[0] != tt.did {
			t.Errorf("%+v: got %d, %s, %q", tt, r.StatusCode, to, q.did)
		}
	}
	if page := text(t, call{path: "/?did=asked", auth: true}.do(t, d)); !strings.Contains(page, "The task is decided again.") {
		t.Error("the page does not show what was done")
	}
}
