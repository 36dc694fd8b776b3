package background_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/queue"
)

// TestLimitHoldsTheAccount checks that after a refusal by GitHub's secondary limit no decision sends
// a request until the limit ends, that then one read and one write probe, and that the decisions state the
// end.
func TestLimitHoldsTheAccount(t *testing.T) {
	t.Parallel()
	const decisions, inFlight = 60, 16
	onAll(t, func(r *rig) {
		r.hold = rest.NewHold("mona", slog.New(slog.NewTextHandler(r, nil)))
		r.slow = 500 * time.Millisecond
		r.gh.Fault(githubtest.Fault{
			Method: "POST", Status: 403, Header: map[string]string{"Retry-After": "600"},
			Body: `{"message":"You have exceeded a secondary rate limit."}`,
		})
		for n := 1; n <= decisions; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.start()
		time.Sleep(20 * time.Second)
		all, writes := r.requests()
		if writes < 1 || writes > inFlight {
			r.t.Errorf("got %d writes at the beginning of the limit, want those in flight, at most %d", writes, inFlight)
		}
		end := r.hold.Until(time.Now())
		if end.IsZero() || !strings.Contains(r.task(decisions).Reason, "until "+end.UTC().Format("2006-01-02 15:04:05")) {
			r.t.Fatalf("got reason %q after %d writes, want the end of the limit, %s", r.task(decisions).Reason, writes, end)
		}
		time.Sleep(time.Until(end) - time.Millisecond)
		if got, _ := r.requests(); got != all {
			r.t.Errorf("got %d requests during the limit", got-all)
		}
		time.Sleep(400 * time.Millisecond) // the probe is on its way
		if got, _ := r.requests(); got != all+1 {
			r.t.Errorf("got %d requests at the end of the limit, want 1", got-all)
		}
		time.Sleep(20 * time.Second)
		if _, got := r.requests(); got != writes+1 {
			r.t.Errorf("got %d writes at the end of the limit, want 1", got-writes)
		}
		r.gh.ClearFaults()
		time.Sleep(30 * time.Minute)
		for n := 1; n <= decisions; n++ {
			r.is(n, queue.Done)
		}
		if got := strings.Count(r.log(), "GitHub limits the account; "); got != 2 {
			r.t.Errorf("got %d warnings, want 2", got)
		}
		if !r.hold.Until(time.Now()).IsZero() {
			r.t.Error("the limit has not ended")
		}
	})
}
