package budget_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/triage"
)

// A github answers every request with the headers that it was last given.
type fakeGitHub struct {
	status int
	header http.Header
}

func (f *fakeGitHub) RoundTrip(*http.Request) (*http.Response, error) {
	header := f.header.Clone()
	header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: f.status, Header: header, Body: http.NoBody}, nil
}

// answers sets the headers of the next answers; resource may be empty.
func (f *fakeGitHub) answers(resource string, left, limit int, reset time.Time) {
	f.header = http.Header{}
	f.header.Set("X-Ratelimit-Remaining", strconv.Itoa(left))
	f.header.Set("X-Ratelimit-Limit", strconv.Itoa(limit))
	f.header.Set("X-Ratelimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	if resource != "" {
		f.header.Set("X-Ratelimit-Resource", resource)
	}
}

// A rig is a counter, with a client of one account.
type rig struct {
	t       *testing.T
	clock   *queuetest.Clock
	gh      *fakeGitHub
	counter *budget.Counter
}

func newRig(t *testing.T) *rig {
	t.Helper()
	clock := queuetest.NewClock()
	return &rig{t, clock, &fakeGitHub{status: http.StatusNotFound, header: http.Header{}}, budget.New(clock.Now)}
}

// call makes n calls about a repository with an account.
func (r *rig) call(account, repo string, event bool, n int) {
	r.t.Helper()
	c, err := github.New(github.Options{Transport: r.counter.Transport(r.gh), Hold: rest.NewHold(account, nil), Now: r.clock.Now})
	if err != nil {
		r.t.Fatal(err)
	}
	owner, name, _ := strings.Cut(repo, "/")
	ctx := r.t.Context()
	if event {
		ctx = rest.ForEvent(ctx)
	}
	for range n {
		if repo == "" {
			_, err = c.Viewer(ctx)
		} else {
			_, err = c.Label(ctx, triage.Ref{Owner: owner, Repo: name, Number: 1}, "docs")
		}
		if err == nil {
			r.t.Fatal("the answer has no label")
		}
	}
}

func (r *rig) want(want budget.Report) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.counter.Report()); diff != "" {
		r.t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestReport counts the calls of two accounts over more than an hour.
func TestReport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.want(budget.Report{Accounts: []budget.Account{}, Repositories: []budget.Repository{}})
	reset := r.clock.Now().Add(40 * time.Minute).Truncate(time.Second).UTC()
	r.gh.answers("core", 4990, 5000, reset)
	r.call("mona", "octo/hello", true, 3)
	r.gh.answers("", 4989, 5000, reset)
	r.call("mona", "OCTO/Hello", false, 1)
	r.gh.answers("core", 4995, 5000, reset) // an answer that was overtaken
	r.call("mona", "octo/other", false, 2)
	r.gh.answers("graphql", 4999, 5000, reset.Add(time.Minute))
	r.call("mona", "octo/hello", true, 1)
	r.gh.answers("core", 14999, 15000, reset)
	r.call("acme", "", false, 1)
	for _, status := range []string{"done", "failed", "given_up", "again", "lost", "given_off"} {
		r.counter.Observe(observe.Observation{Event: observe.LeaseEnded, Status: status, Repo: "octo/hello", N: 1})
	}
	r.counter.Observe(observe.Observation{Event: observe.ApplyAttempted, Status: "done", Repo: "octo/hello", N: 1})
	core := budget.Account{Name: "mona", Resource: "core", Calls: 6, Total: 6, Left: 4989, Limit: 5000, Reset: reset}
	queries := budget.Account{Name: "mona", Resource: "graphql", Calls: 1, Total: 1, Left: 4999, Limit: 5000, Reset: reset.Add(time.Minute)}
	acme := budget.Account{Name: "acme", Resource: "core", Calls: 1, Total: 1, Left: 14999, Limit: 15000, Reset: reset}
	hello := budget.Repository{Name: "octo/hello", Account: "mona", Calls: 5, ForEvents: 4, Events: 3, Total: 5, TotalForEvents: 4}
	other := budget.Repository{Name: "octo/other", Account: "mona", Calls: 2, Total: 2}
	none := budget.Repository{Name: budget.Other, Account: "acme", Calls: 1, Total: 1}
	r.want(budget.Report{Accounts: []budget.Account{core, queries, acme}, Repositories: []budget.Repository{hello, other, none}})
	if one, ok := r.counter.Report().Of("mona"); !ok || one != core {
		t.Errorf("got %+v, %t", one, ok)
	}
	if one, ok := r.counter.Report().Of("nobody"); ok {
		t.Errorf("got %+v", one)
	}

	// GitHub's hour ends before ours.
	r.clock.Advance(40 * time.Minute)
	core.Left, core.Reset, acme.Left, acme.Reset = 5000, time.Time{}, 15000, time.Time{}
	r.want(budget.Report{Accounts: []budget.Account{core, queries, acme}, Repositories: []budget.Repository{hello, other, none}})
	r.gh.answers("core", 4998, 5000, reset.Add(time.Hour))
	r.call("mona", "octo/hello", false, 1)
	core.Calls, core.Total, core.Left, core.Reset = 7, 7, 4998, reset.Add(time.Hour)
	hello.Calls, hello.Total = 6, 6
	r.want(budget.Report{Accounts: []budget.Account{core, queries, acme}, Repositories: []budget.Repository{hello, other, none}})

	r.clock.Advance(20 * time.Minute)
	core.Calls, hello.Calls, hello.ForEvents, hello.Events, other.Calls, none.Calls, acme.Calls = 1, 1, 0, 0, 0, 0, 0
	queries.Calls, queries.Left, queries.Reset = 0, 5000, time.Time{}
	r.want(budget.Report{Accounts: []budget.Account{core, queries, acme}, Repositories: []budget.Repository{hello, other, none}})
}

// TestUnchanged checks that an answer without a change is not counted, as GitHub does not count it, and
// that one without headers is.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("", "octo/hello", false, 1)
	r.gh.status = http.StatusNotModified
	r.gh.answers("core", 41, 60, r.clock.Now().Add(time.Minute).UTC())
	r.call("", "octo/hello", false, 1)
	got := r.counter.Report()
	if len(got.Accounts) != 1 || len(got.Repositories) != 1 || got.Accounts[0].Calls != 1 || got.Accounts[0].Left != 41 || got.Repositories[0].Calls != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestBounds checks that repositories and accounts beyond the maximum are counted together.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 1100 {
		r.call(fmt.Sprintf("account-%d", n), fmt.Sprintf("octo/r%d", n), true, 1)
	}
	got := r.counter.Report()
	calls := 0
	for _, repo := range got.Repositories {
		calls += repo.Calls
	}
	last, all := got.Repositories[len(got.Repositories)-1], got.Accounts[len(got.Accounts)-1]
	if len(got.Repositories) != 1001 || len(got.Accounts) != 201 || calls != 1100 || last.Name != budget.Other || last.Calls != 100 || all.Name != budget.Other || all.Calls != 900 {
		t.Errorf("got %d repositories with %d calls, the last %+v, and %d accounts, the last %+v", len(got.Repositories), calls, last, len(got.Accounts), all)
	}
}

// TestClock sets the clock back and far ahead: calls are neither lost within the hour nor kept for longer.
func TestClock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tests := []struct {
		advance time.Duration
		want    int
	}{
		{0, 1}, {time.Minute, 2}, {-30 * time.Minute, 3}, {30 * time.Minute, 4}, {59 * time.Minute, 4}, {-3 * time.Hour, 1}, {time.Minute, 2}, {1000 * time.Hour, 1},
	}
	for i, tt := range tests {
		r.clock.Advance(tt.advance)
		r.call("mona", "octo/hello", false, 1)
		if got := r.counter.Report().Repositories[0].Calls; got != tt.want {
			t.Errorf("step %d: got %d calls, want %d", i, got, tt.want)
		}
	}
}
