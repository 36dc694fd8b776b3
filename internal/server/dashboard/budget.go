package dashboard

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/queue"
)

// maxBudgetRows limits the repositories whose calls are shown.
const maxBudgetRows = 20

// A budgetSection shows the calls to GitHub of each repository, and how many are left.
type budgetSection struct {
	Text string // in a sentence; empty: no call was counted in the last hour
	Low  bool   // an account has less than a tenth of its calls left
	Rows []budgetRow
	More int // repositories that are not shown
}

// A budgetRow is the calls of a repository.
type budgetRow struct {
	Repo, URL string
	Calls     int    // of the last hour
	EachEvent string // calls for an event; empty: no event ended in the last hour
	Left      string // of the account's hour; empty: GitHub has not reported it
	Low       bool
	Reset     time.Time // of the account's hour; zero: not known, or it has ended
}

// newBudgetSection makes the section. The repositories with the most calls come first.
func newBudgetSection(r budget.Report) budgetSection {
	var s budgetSection
	list := slices.DeleteFunc(slices.Clone(r.Repositories), func(r budget.Repository) bool { return r.Calls == 0 && r.Events == 0 })
	if len(list) == 0 {
		return s
	}
	slices.SortStableFunc(list, func(a, b budget.Repository) int { return cmp.Compare(b.Calls, a.Calls) })
	calls := 0
	for _, repo := range list {
		calls += repo.Calls
	}
	var accounts []string
	for _, a := range r.Accounts {
		if a.Limit > 0 {
			s.Low = s.Low || low(a)
			accounts = append(accounts, word(a.Name)+resourceName(a)+" has "+left(a)+" calls left")
		}
	}
	s.Text = plural(calls, "call") + " to GitHub in the last hour"
	if len(accounts) > 0 {
		rest := len(accounts) - 3
		s.Text += "; " + strings.Join(accounts[:min(len(accounts), 3)], ", ")
		if rest > 0 {
			s.Text += ", and " + plural(rest, "other")
		}
	}
	for _, repo := range list[:min(len(list), maxBudgetRows)] {
		row := budgetRow{Repo: word(repo.Name), Calls: repo.Calls, EachEvent: eachEvent(repo)}
		if repo.Name == budget.Other {
			row.Repo = "all other calls"
		} else {
			row.URL = filterURL(queue.Filter{Repo: repo.Name})
		}
		if a, ok := r.Of(repo.Account); ok && a.Limit > 0 {
			row.Left, row.Low, row.Reset = left(a), low(a), a.Reset
		}
		s.Rows = append(s.Rows, row)
	}
	s.More = len(list) - len(s.Rows)
	return s
}

// resourceName names a limit other than that of the REST API.
func resourceName(a budget.Account) string {
	switch a.Resource {
	case "core":
		return ""
	case "graphql":
		return " (GraphQL)"
	}
	return " (" + word(a.Resource) + ")"
}

func left(a budget.Account) string { return strconv.Itoa(a.Left) + " of " + strconv.Itoa(a.Limit) }

func low(a budget.Account) bool { return a.Left < a.Limit/10 }

// eachEvent returns the number of calls for an event, with one decimal.
func eachEvent(r budget.Repository) string {
	if r.Events == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(r.ForEvents)/float64(r.Events), 'f', 1, 64)
}
