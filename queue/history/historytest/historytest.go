// Package historytest tests implementations of history.Store: every implementation passes [Run].
package historytest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/queue/queuetest"
)

// A Pair is two stores on the same data, as in queuetest, with their histories.
type Pair struct {
	queuetest.Pair

	HistoryA, HistoryB history.Store
}

// Run runs the tests for history.Store. open is called once per subtest, and may use t.Cleanup to
// close its stores.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	for name, test := range map[string]func(s *story){
		"nothing":                nothing,
		"one task":               oneTask,
		"failures":               failures,
		"a decision waits":       decisionWaits,
		"retry of a decision":    retryDecision,
		"retry without decision": retryClaim,
		"asked again":            askedAgain,
		"restarted at once":      restartedAtOnce,
		"restarted while read":   restartedWhileRead,
		"scopes":                 scopes,
		"many scopes":            manyScopes,
		"many tasks, two stores": manyTasks,
		"purged tasks":           purged,
		"old rows":               oldRows,
		"clock set back":         clockBack,
		"budgets":                budgets,
		"hostile names":          hostileNames,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&story{T: t, Pair: open(t)})
		})
	}
}

// A story is a test with a pair of stores.
type story struct {
	*testing.T
	Pair

	issues int
}

const agent = "http://agent.test/"

// check fails the test after an error.
func (s *story) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *story) enqueue(id string) { s.enqueueIn(id, agent, "o/r") }

func (s *story) enqueueIn(id, agent, repo string) {
	s.Helper()
	s.issues++
	_, err := s.A.Enqueue(s.Context(), queue.Task{ID: id, Agent: agent, Repo: repo, Issue: s.issues, Message: []byte("{}")})
	s.check(err)
}

func (s *story) claim(id string) {
	s.Helper()
	_, err := s.A.ClaimNext(s.Context(), agent, queue.ClaimOptions{Lease: time.Hour, Task: id})
	s.check(err)
}

func (s *story) decide(id string) {
	s.Helper()
	r, err := s.A.Complete(s.Context(), queue.Ref{ID: id}, []byte("{}"))
	s.check(err)
	if !r.Accepted {
		s.Fatalf("the decision on %s was rejected: %s", id, r.Reason)
	}
}

// lease leases all decisions that are ready.
func (s *story) lease() []queue.Decision {
	s.Helper()
	list, err := s.A.LeaseDecisions(s.Context(), queue.DrainOptions{Owner: "test", Lease: time.Hour, Limit: 100})
	s.check(err)
	return list
}

// finish carries out all decisions that are ready, with a status; "failed" fails them.
func (s *story) finish(status string) {
	s.Helper()
	for _, d := range s.lease() {
		if status == "failed" {
			s.check(s.A.Fail(s.Context(), d.Lease, "failed after 8 tries", nil))
			continue
		}
		s.check(s.A.MarkDone(s.Context(), d.Lease, []byte(`{"version":1,"actions":[{"status":"no"}],"status":"`+status+`","rules":[]}`)))
	}
}

func (s *story) sleep(d time.Duration) { s.Clock.Advance(d) }

// record records all that is settled.
func (s *story) record() (facts int) {
	s.Helper()
	for {
		got, err := s.HistoryA.Record(s.Context())
		s.check(err)
		facts += got.Facts
		if !got.More {
			return facts
		}
	}
}

func (s *story) read(q history.Query) history.Series {
	s.Helper()
	out, err := s.HistoryB.Read(s.Context(), q)
	s.check(err)
	return out
}

func (s *story) ranged(name string) history.Range {
	s.Helper()
	r, err := history.ParseRange(name)
	s.check(err)
	return r
}

// want reads the last hour before and after the tasks are recorded, and checks both.
func (s *story) want(want string) {
	s.Helper()
	s.wantOf(history.Query{Range: s.ranged("1h")}, want)
}

func (s *story) wantOf(q history.Query, want string) {
	s.Helper()
	want = strings.TrimSpace(strings.ReplaceAll(want, "\t", ""))
	if got := show(s.read(q)); got != want {
		s.Errorf("before Record: got\n%s\nwant\n%s", got, want)
	}
	s.record()
	if got := show(s.read(q)); got != want {
		s.Errorf("after the first Record: got\n%s\nwant\n%s", got, want)
	}
	// Now all is settled, and the rows alone have it.
	s.sleep(5 * time.Minute)
	s.record()
	if n := s.record(); n != 0 {
		s.Errorf("Record added %d facts twice", n)
	}
	s.sleep(-5 * time.Minute)
	if got := show(s.read(q)); got != want {
		s.Errorf("after Record: got\n%s\nwant\n%s", got, want)
	}
	s.sleep(5 * time.Minute)
}

// show formats the points that are not empty, by their times.
func show(series history.Series) string {
	var lines []string
	for i, c := range series.Points {
		line := series.At(i).Format("15:04")
		add := func(name string, n int, suffix string) {
			if n > 0 {
				line += fmt.Sprintf(" %s=%d%s", name, n, suffix)
			}
		}
		add("received", c.Received, "")
		add("decided", c.Decided, "")
		add("done", c.Done, "")
		add("failed", c.Failed, "")
		for _, outcome := range history.Outcomes() {
			add(string(outcome), c.Outcomes[outcome], "")
		}
		for _, d := range []struct {
			name string
			history.Histogram
		}{{"waiting", c.Waiting}, {"deciding", c.Deciding}, {"applying", c.Applying}} {
			add(d.name, d.N(), fmt.Sprintf("x%.0fs", d.Percentile(0.5).Seconds()))
		}
		add("skewed", c.Skewed, "")
		if strings.Contains(line, "=") {
			lines = append(lines, line)
		}
	}
	if series.Future > 0 {
		lines = append(lines, fmt.Sprintf("future=%d", series.Future))
	}
	if !series.Pending.IsZero() {
		lines = append(lines, "pending")
	}
	return strings.Join(lines, "\n")
}

func nothing(s *story) { s.want("") }

// oneTask has the times of all steps in different minutes. The clock starts at 8:30.
func oneTask(s *story) {
	s.enqueue("1")
	s.sleep(2 * time.Minute)
	s.claim("1")
	s.sleep(time.Minute)
	s.decide("1")
	s.sleep(3 * time.Minute)
	s.finish("applied")
	s.want(`
		08:30 received=1
		08:33 decided=1 waiting=1x128s deciding=1x62s
		08:36 done=1 applied=1 applying=1x184s`)
	for _, name := range []string{"24h", "7d", "30d", "90d"} {
		total := s.read(history.Query{Range: s.ranged(name)}).Total
		if total.Received != 1 || total.Decided != 1 || total.Done != 1 || total.Waiting.N() != 1 || total.Applying.N() != 1 {
			s.Errorf("%s: got %+v", name, total)
		}
	}
}

func failures(s *story) {
	for _, id := range []string{"cancelled", "agent", "apply", "nothing", "torn"} {
		s.enqueue(id)
	}
	s.check(s.A.Cancel(s.Context(), queue.Seen{ID: "cancelled"}, "ada"))
	s.claim("agent")
	s.check(s.A.FailClaim(s.Context(), queue.Ref{ID: "agent", Attempt: 1}, "the agent answered with 400"))
	s.claim("apply")
	s.decide("apply")
	s.finish("failed")
	s.claim("nothing")
	s.decide("nothing")
	s.finish("skipped")
	s.claim("torn")
	s.decide("torn")
	s.finish("sta\x00tus") // not JSON
	s.want("08:30 received=5 decided=3 done=2 failed=3 nothing=1 unknown=1 no_decision=1 not_applied=1 cancelled=1 waiting=4x0s deciding=3x0s applying=3x0s")
}

// decisionWaits has a decision that is not carried out for an hour. It counts as decided at once.
func decisionWaits(s *story) {
	s.enqueue("1")
	s.claim("1")
	s.decide("1")
	s.want("08:30 received=1 decided=1 waiting=1x0s deciding=1x0s")
	leased := s.lease()
	s.want("08:30 received=1 decided=1 waiting=1x0s deciding=1x0s")
	s.check(s.A.ReleaseLease(s.Context(), leased[0].Lease, queue.Postponement{Wait: time.Minute}))
	s.want("08:30 received=1 decided=1 waiting=1x0s deciding=1x0s")
	s.finish("applied")
	s.want("08:30 received=1 decided=1 waiting=1x0s deciding=1x0s\n08:45 done=1 applied=1 applying=1x951s")
}

// retryDecision retries a task whose decision could not be carried out. Only its end counts twice.
func retryDecision(s *story) {
	s.enqueue("1")
	s.claim("1")
	s.decide("1")
	s.finish("failed")
	s.want("08:30 received=1 decided=1 failed=1 not_applied=1 waiting=1x0s deciding=1x0s applying=1x0s")
	_, err := s.A.Retry(s.Context(), queue.Seen{ID: "1"}, "ada")
	s.check(err)
	s.want("08:30 received=1 decided=1 failed=1 not_applied=1 waiting=1x0s deciding=1x0s applying=1x0s")
	s.finish("applied")
	s.want("08:30 received=1 decided=1 failed=1 not_applied=1 waiting=1x0s deciding=1x0s applying=1x0s\n" +
		"08:40 done=1 applied=1 applying=1x318s")
}

// retryClaim retries a task without a decision. It waits from the retry on.
func retryClaim(s *story) {
	s.enqueue("1")
	s.claim("1")
	s.check(s.A.FailClaim(s.Context(), queue.Ref{ID: "1", Attempt: 1}, "why"))
	s.want("08:30 received=1 failed=1 no_decision=1 waiting=1x0s")
	_, err := s.A.Retry(s.Context(), queue.Seen{ID: "1"}, "ada")
	s.check(err)
	s.sleep(30 * time.Second)
	s.claim("1")
	s.decide("1")
	s.finish("applied")
	s.want("08:30 received=1 failed=1 no_decision=1 waiting=1x0s\n" +
		"08:35 decided=1 done=1 applied=1 waiting=1x30s deciding=1x0s applying=1x0s")
}

// askedAgain asks again about a done task. Both decisions count.
func askedAgain(s *story) {
	s.enqueue("1")
	s.claim("1")
	s.decide("1")
	s.finish("skipped")
	s.want("08:30 received=1 decided=1 done=1 nothing=1 waiting=1x0s deciding=1x0s applying=1x0s")
	_, err := s.A.AskAgain(s.Context(), queue.Seen{ID: "1"}, "ada", "")
	s.check(err)
	s.sleep(time.Second)
	s.claim("1")
	s.decide("1")
	s.finish("applied")
	s.want("08:30 received=1 decided=1 done=1 nothing=1 waiting=1x0s deciding=1x0s applying=1x0s\n" +
		"08:35 decided=1 done=1 applied=1 waiting=1x1s deciding=1x0s applying=1x0s")
}

// restartedAtOnce retries and asks again before the ends are recorded. Each end counts, once.
func restartedAtOnce(s *story) {
	s.enqueue("1")
	s.claim("1")
	s.decide("1")
	s.finish("failed")
	_, err := s.A.Retry(s.Context(), queue.Seen{ID: "1"}, "ada")
	s.check(err)
	s.finish("skipped")
	s.sleep(time.Second)
	_, err = s.B.AskAgain(s.Context(), queue.Seen{ID: "1"}, "ada", "")
	s.check(err)
	s.claim("1")
	s.check(s.A.FailClaim(s.Context(), queue.Ref{ID: "1"}, "why"))
	_, err = s.A.Retry(s.Context(), queue.Seen{ID: "1", State: queue.Done}, "ada") // refused
	if !errors.Is(err, queue.ErrChanged) {
		s.Fatalf("got %v, want ErrChanged", err)
	}
	const want = "08:30 received=1 decided=1 done=1 failed=2 nothing=1 no_decision=1 not_applied=1 waiting=2x0s deciding=1x0s applying=2x0s"
	s.want(want)
	_, err = s.A.Retry(s.Context(), queue.Seen{ID: "1"}, "ada") // its end is recorded
	s.check(err)
	s.want(want)
}

// restartedWhileRead retries tasks while their ends are recorded. Each end counts, once.
func restartedWhileRead(s *story) {
	const n = 30
	for i := range n {
		s.enqueue(fmt.Sprint(i))
		s.check(s.A.Cancel(s.Context(), queue.Seen{ID: fmt.Sprint(i)}, "ada"))
	}
	s.sleep(5 * time.Minute)
	var group sync.WaitGroup
	group.Go(func() {
		for range n {
			if _, err := s.HistoryB.Record(s.Context()); err != nil {
				s.Error(err)
			}
		}
	})
	for i := range n {
		_, err := s.A.Retry(s.Context(), queue.Seen{ID: fmt.Sprint(i)}, "ada")
		s.check(err)
	}
	group.Wait()
	s.want(fmt.Sprintf("08:30 received=%d failed=%[1]d cancelled=%[1]d", n))
}

func scopes(s *story) {
	s.enqueueIn("1", agent, "Acme/Web")
	s.enqueueIn("2", "http://other.test/", "acme/web")
	s.enqueueIn("3", "", "acme/api")
	hour := s.ranged("1h")
	for want, list := range map[int][]history.Scope{
		3: {{}},
		2: {{Repo: "ACME/web"}},
		1: {{Agent: agent}, {Agent: agent, Repo: "acme/web"}, {Repo: "acme/api"}},
		0: {{Agent: agent, Repo: "acme/api"}, {Agent: "http://AGENT.test/"}, {Repo: "o/r"}},
	} {
		for _, scope := range list {
			line := map[int]string{1: "08:30 received=1", 2: "08:30 received=2", 3: "08:30 received=3 decided=1"}[want]
			if scope.Repo == "acme/api" && want > 0 {
				line += " decided=1" // there is no agent, so the task is decided when it is received
			}
			s.wantOf(history.Query{Range: hour, Scope: scope}, line)
		}
	}
}

// manyScopes has more repositories in a minute than have rows of their own. All tasks are counted.
func manyScopes(s *story) {
	for n := range 130 {
		s.enqueueIn(fmt.Sprint(n), "", fmt.Sprintf("o/r%d", n))
	}
	s.want("08:30 received=130 decided=130")
	found := 0
	for n := range 130 {
		found += s.read(history.Query{Range: s.ranged("24h"), Scope: history.Scope{Repo: fmt.Sprintf("o/r%d", n)}}).Total.Received
	}
	if found < 50 || found > 129 {
		s.Errorf("%d repositories have rows of their own, want at least 50, and not all", found)
	}
}

// manyTasks has more tasks than one call of Record takes. Two stores record them at the same time.
func manyTasks(s *story) {
	const n = 300
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := s.A.Enqueue(s.Context(), queue.Task{ID: fmt.Sprint(i), Repo: "o/r", Message: []byte("{}")}); err != nil {
				s.Error(err)
			}
		})
	}
	all.Wait()
	for range n / 100 {
		s.finish("applied")
	}
	s.sleep(time.Hour)
	first, err := s.HistoryA.Record(s.Context())
	s.check(err)
	if !first.More {
		s.Error("one call recorded all tasks, so its work is not bounded")
	}
	var facts [2]int
	for i, h := range []history.Store{s.HistoryA, s.HistoryB} {
		all.Go(func() {
			for range 20 {
				got, err := h.Record(s.Context())
				if err != nil {
					s.Error(err)
				}
				facts[i] += got.Facts
			}
		})
	}
	all.Wait()
	if got := first.Facts + facts[0] + facts[1]; got != 3*n {
		s.Errorf("recorded %d facts, want %d", got, 3*n)
	}
	c := s.read(history.Query{Range: s.ranged("24h")}).Total
	if c.Received != n || c.Decided != n || c.Done != n || c.Applying.N() != n || c.Outcomes[history.Applied] != n {
		s.Errorf("got %+v, want %d of each", c, n)
	}
}

// purged deletes the tasks. Their history stays.
func purged(s *story) {
	s.enqueueIn("1", "", "o/r")
	s.finish("applied")
	s.sleep(10 * time.Minute)
	s.record()
	if n, err := s.A.Purge(s.Context(), s.Clock.Now(), 10); err != nil || n != 1 {
		s.Fatal(n, err)
	}
	s.want("08:30 received=1 decided=1 done=1 applied=1 applying=1x0s")
}

// oldRows checks how long rows are kept.
func oldRows(s *story) {
	s.enqueueIn("1", "", "o/r")
	s.finish("applied")
	for _, tt := range []struct {
		after             time.Duration
		ranged            string
		received, longest int
	}{
		{time.Hour, "24h", 1, 1},
		{26 * time.Hour, "7d", 1, 1},
		{80 * 24 * time.Hour, "90d", 1, 1},
		{30 * 24 * time.Hour, "90d", 0, 0},
	} {
		s.sleep(tt.after)
		s.enqueueIn(tt.ranged+tt.after.String(), "", "o/other") // so that there is something to record
		s.sleep(10 * time.Minute)
		s.record()
		if got := s.read(history.Query{Range: s.ranged(tt.ranged), Scope: history.Scope{Repo: "o/r"}}).Total; got.Received != tt.received {
			s.Errorf("after %s in %s: got %d, want %d", tt.after, tt.ranged, got.Received, tt.received)
		}
	}
}

// clockBack sets the clock back between two steps. Durations are not negative, and nothing is lost.
func clockBack(s *story) {
	s.sleep(10 * time.Minute)
	s.enqueue("1")
	s.sleep(-2 * time.Minute)
	s.claim("1")
	s.sleep(-2 * time.Minute)
	s.decide("1")
	s.sleep(-2 * time.Minute)
	s.finish("applied")
	s.sleep(20 * time.Minute)
	s.want(`
		08:34 done=1 applied=1 applying=1x0s skewed=1
		08:36 decided=1 waiting=1x0s deciding=1x0s skewed=2
		08:40 received=1`)

	// The recorded time is after the tasks that end now.
	s.sleep(-20 * time.Minute)
	s.record()
	s.enqueueIn("2", "", "o/r")
	s.finish("applied")
	s.sleep(10 * time.Minute)
	s.record()
	s.sleep(20 * time.Minute)
	if got := s.read(history.Query{Range: s.ranged("1h")}).Total; got.Received != 2 || got.Done != 2 {
		s.Errorf("after the clock was set back: got %+v, want 2 received and done", got)
	}

	// A task of the future is in no point, but counted apart.
	s.sleep(3 * time.Hour)
	s.enqueueIn("3", "", "o/r")
	s.sleep(-2 * time.Hour)
	s.record()
	if got := s.read(history.Query{Range: s.ranged("24h")}); got.Future == 0 || got.Total.Received != 2 {
		s.Errorf("got %d received and %d of the future, want 2 and some", got.Total.Received, got.Future)
	}
}

func budgets(s *story) {
	ctx := s.Context()
	calls := func(account string, calls, remaining, limit int) []history.Budget {
		return []history.Budget{{Account: account, Calls: calls, Remaining: remaining, Limit: limit}}
	}
	s.check(s.HistoryA.RecordBudget(ctx, nil))
	s.check(s.HistoryA.RecordBudget(ctx, calls("bot", 1, -1, 0)))
	s.check(s.HistoryA.RecordBudget(ctx, calls("app", 10, 4990, 5000)))
	s.check(s.HistoryB.RecordBudget(ctx, calls("app", 5, 4995, 5000)))
	s.sleep(time.Minute)
	s.check(s.HistoryB.RecordBudget(ctx, calls("app", 7, -1, 5000)))
	for name, want := range map[string]string{
		"1h":  "app [{15 4990 5000} {7 -1 5000}]; bot [{1 -1 0}]",
		"24h": "app [{22 4990 5000}]; bot [{1 -1 0}]",
		"30d": "app [{22 4990 5000}]; bot [{1 -1 0}]",
	} {
		var got []string
		for _, b := range s.read(history.Query{Range: s.ranged(name)}).Budgets {
			var points []string
			for _, p := range b.Points {
				if p.Calls > 0 {
					points = append(points, fmt.Sprint(p))
				}
			}
			got = append(got, fmt.Sprintf("%s [%s]", b.Account, strings.Join(points, " ")))
		}
		if got := strings.Join(got, "; "); got != want {
			s.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := s.read(history.Query{Range: s.ranged("1h"), Scope: history.Scope{Repo: "o/r"}}).Budgets; got != nil {
		s.Errorf("got %v for a repository, want none", got)
	}
	var many []history.Budget
	for n := range 300 {
		many = append(many, history.Budget{Account: fmt.Sprint("account ", n), Calls: 1})
	}
	s.check(s.HistoryA.RecordBudget(ctx, many))
	if got := len(s.read(history.Query{Range: s.ranged("1h")}).Budgets); got > 150 {
		s.Errorf("got %d accounts, so their number is not bounded", got)
	}
}

// hostileNames has the longest names, and names that look like keys of other scopes.
func hostileNames(s *story) {
	names := []string{strings.Repeat("é", 1000), "agent " + agent, "a\nb 5 c", `"><script>`, "'; DROP TABLE history"}
	for n, name := range names {
		s.enqueueIn(fmt.Sprint(n), name, name)
	}
	s.want(fmt.Sprintf("08:30 received=%d", len(names)))
	for _, name := range names {
		for _, scope := range []history.Scope{{Agent: name}, {Repo: name}, {Agent: name, Repo: name}} {
			if got := s.read(history.Query{Range: s.ranged("24h"), Scope: scope}).Total.Received; got != 1 {
				s.Errorf("%.20s: got %d tasks, want 1", name, got)
			}
		}
	}
	s.check(s.HistoryA.RecordBudget(s.Context(), []history.Budget{{Account: "a\x00\xff" + strings.Repeat("é", 5000), Calls: 1}}))
	if got := s.read(history.Query{Range: s.ranged("1h")}).Budgets; len(got) != 1 {
		s.Errorf("got %d accounts, want 1", len(got))
	}
}
