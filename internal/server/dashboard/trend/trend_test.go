package trend_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/dashboard/chart"
	"github.com/org/foreman-action/internal/server/dashboard/trend"
	"github.com/org/foreman-action/queue/history"
)

// TestNames checks that every range and every outcome has a name for people.
func TestNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	for _, r := range history.Ranges() {
		s := history.NewSeries(history.Query{Range: r}, now)
		outcomes := map[history.Outcome]int{}
		for i, o := range history.Outcomes() {
			outcomes[o] = i + 1
		}
		s.Add(history.Fact{At: now, Counts: history.Counts{Done: 7, Failed: 3, Outcomes: outcomes}})
		p := trend.New(s)
		if !strings.Contains(p.Title, "hour") && !strings.Contains(p.Title, "days") {
			t.Errorf("%s: got the title %q", r.Name, p.Title)
		}
		if len(p.Outcomes) != len(outcomes) || len(p.Rows) != 2 || len(p.Rows[0].Cells) != len(p.Columns) || p.Empty {
			t.Errorf("%s: got %d outcomes, %d rows, empty %v", r.Name, len(p.Outcomes), len(p.Rows), p.Empty)
		}
		for _, o := range p.Outcomes {
			if strings.Contains(o.Name, "_") {
				t.Errorf("the outcome %q has no name for people", o.Name)
			}
		}
		current := 0
		for _, l := range p.Ranges {
			if l.Current && l.URL == "/history?range="+r.Name {
				current++
			}
		}
		if current != 1 || len(p.Ranges) != len(history.Ranges()) {
			t.Errorf("%s: got the links %+v", r.Name, p.Ranges)
		}
	}
}

// TestNotes checks that the page reports what its numbers lack.
func TestNotes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	s := history.NewSeries(history.Query{Range: history.Ranges()[1]}, now)
	if p := trend.New(s); len(p.Notes) != 0 || !p.Empty || len(p.Rows) != 0 {
		t.Errorf("an empty history: got %+v", p)
	}
	s.Add(history.Received(now.Add(time.Hour)))
	s.Add(history.Fact{At: now, Counts: history.Counts{Done: 1, Skewed: 2}})
	s.Pending = now
	if got := strings.Join(trend.New(s).Notes, " "); !strings.Contains(got, "since 2026-04-10 08:30 UTC") || !strings.Contains(got, "2 times were negative") || !strings.Contains(got, "in the future") {
		t.Errorf("got the notes %s", got)
	}
}

// TestManyAccounts has more accounts than a chart can distinguish.
func TestManyAccounts(t *testing.T) {
	t.Parallel()
	s := history.NewSeries(history.Query{Range: history.Ranges()[0]}, time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC))
	for n := range 30 {
		b := history.NewBudgetSeries(fmt.Sprintf("account %d", n), s.Range)
		b.Points[0].Calls = 1
		s.Budgets = append(s.Budgets, b)
	}
	p := trend.New(s)
	if len(p.Accounts) != 20 {
		t.Errorf("got %d accounts in the table, want 20", len(p.Accounts))
	}
	for _, f := range p.Charts {
		switch f.ID {
		case "calls":
			if n := strings.Count(string(f.Legend), "<li>"); n != chart.MaxSeries {
				t.Errorf("got %d accounts in the chart, want %d", n, chart.MaxSeries)
			}
		case "left":
			if f.None == "" || f.SVG != "" {
				t.Error("accounts without a limit have a chart")
			}
		}
	}
}
