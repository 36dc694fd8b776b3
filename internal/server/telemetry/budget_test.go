package telemetry_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/telemetry"
)

// callsOf returns the calls of n repositories, and of an account whose hour ends after 40 minutes.
func callsOf(now time.Time, n int) budget.Report {
	r := budget.Report{Accounts: []budget.Account{
		{Name: "mona", Resource: "core", Left: 4000, Limit: 5000, Reset: now.Add(40 * time.Minute)},
		{Name: "mona", Resource: "graphql", Left: 5000, Limit: 5000},
		{Name: "octo", Resource: "core"}, // GitHub has reported nothing
	}, Repositories: []budget.Repository{{Name: budget.Other, Total: 5}}}
	for k := range n {
		r.Repositories = append(r.Repositories, budget.Repository{Name: "o/r" + strconv.Itoa(k), Total: 3, TotalForEvents: 2})
	}
	return r
}

// TestBudgetBound checks that the calls of many repositories are reported together, and none is lost.
func TestBudgetBound(t *testing.T) {
	t.Parallel()
	var r *rig
	r = newRig(t, telemetry.Options{Budget: func() budget.Report { return callsOf(r.clock.Now(), 300) }})
	values, calls := map[string]bool{}, 0
	for line := range strings.Lines(r.scrape(t)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if labels, ok := strings.CutPrefix(name, "foreman_github_calls_total{"); ok {
			_, repo, _ := strings.Cut(labels, "repo=")
			values[repo] = true
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(line, err)
			}
			calls += n
		}
	}
	if len(values) > 201 || len(values) < 100 || calls != 905 {
		t.Errorf("got %d calls in %d repositories", calls, len(values))
	}
}
