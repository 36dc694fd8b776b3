// Package trend makes the view model of the history page: charts of a series, and the same numbers
// as a table.
package trend

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/dashboard/chart"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue/history"
)

// A Page is the view model. All texts in it are short and without invisible characters; the template
// escapes them.
type Page struct {
	Title    string
	Ranges   []Link
	Agent    string // of the filter
	Repo     string
	Range    string
	Export   string // address of the tasks of the range as JSON lines
	JSON     string // address of the counts as JSON
	Empty    bool   // no task was received or ended
	Charts   []Figure
	Outcomes []Outcome
	Columns  []string // of Rows, after the time
	Rows     []Row    // of the steps that are not empty, the newest first
	Accounts []Account
	Notes    []string // about the completeness of the numbers
}

// A Link is a range that can be chosen.
type Link struct {
	Name, URL string
	Current   bool
}

// A Figure is a chart with its legend.
type Figure struct {
	ID, Title, Unit string
	SVG, Legend     template.HTML
	None            string // why there is no chart; empty: there is one
}

// An Outcome is how many tasks ended in one way.
type Outcome struct {
	Name  string
	Count int
}

// A Row is one step, or all steps together.
type Row struct {
	At    time.Time // zero: all steps
	Cells []string
}

// An Account is the calls to GitHub with one account.
type Account struct{ Name, Calls, Left string }

// New makes the page of a series.
func New(s history.Series) *Page {
	q := history.Query{Range: s.Range, Scope: s.Scope}
	p := &Page{
		Title: "History of the last " + spoken(s.Range.Name), Agent: s.Scope.Agent, Repo: s.Scope.Repo, Range: s.Range.Name,
		JSON: "/queue/history?" + filter.HistoryValues(q).Encode(), Empty: empty(s.Total),
		Columns: []string{"Received", "Decided", "Done", "Failed", "Waiting: p50, p99", "Deciding: p50, p99", "Applying: p50, p99"},
	}
	export := filter.HistoryValues(q)
	export.Del("range")
	export.Set("since", s.From.UTC().Format(time.RFC3339))
	p.Export = "/queue/export?" + export.Encode()
	for _, r := range history.Ranges() {
		p.Ranges = append(p.Ranges, Link{spoken(r.Name), "/history?" + filter.HistoryValues(history.Query{Range: r, Scope: s.Scope}).Encode(), r == s.Range})
	}
	p.Charts = append(tasks(s), budgets(s)...)
	for _, o := range history.Outcomes() {
		if n := s.Total.Outcomes[o]; n > 0 {
			p.Outcomes = append(p.Outcomes, Outcome{outcomeName(o), n})
		}
	}
	if !p.Empty {
		p.Rows = append(p.Rows, row(time.Time{}, s.Total))
	}
	for i, c := range slices.Backward(s.Points) {
		if !empty(c) {
			p.Rows = append(p.Rows, row(s.At(i), c))
		}
	}
	p.Accounts, p.Notes = accounts(s), notes(s)
	return p
}

// spoken returns the name of a range for people.
func spoken(name string) string {
	switch name {
	case "1h":
		return "hour"
	case "24h":
		return "24 hours"
	case "7d":
		return "7 days"
	case "30d":
		return "30 days"
	case "90d":
		return "90 days"
	}
	return name
}

func empty(c history.Counts) bool { return c.Received+c.Decided+c.Done+c.Failed == 0 }

func row(at time.Time, c history.Counts) Row {
	cells := []string{}
	for _, n := range []int{c.Received, c.Decided, c.Done, c.Failed} {
		cells = append(cells, chart.Count.Format(float64(n)))
	}
	for _, h := range []history.Histogram{c.Waiting, c.Deciding, c.Applying} {
		cell := "–"
		if h.N() > 0 {
			cell = chart.Seconds.Format(percentile(h, 0.5)) + ", " + chart.Seconds.Format(percentile(h, 0.99))
		}
		cells = append(cells, cell)
	}
	return Row{at, cells}
}

// percentile returns a percentile in seconds; NaN for an empty histogram.
func percentile(h history.Histogram, p float64) float64 {
	if h.N() == 0 {
		return math.NaN()
	}
	return h.Percentile(p).Seconds()
}

// figure draws a chart. none is what the page shows if there are no values.
func figure(id, unit, none string, c chart.Chart) Figure {
	f := Figure{ID: id, Title: c.Title, Unit: unit, None: none}
	for _, s := range c.Series {
		for _, v := range s.Values {
			if v > 0 || !c.Bars && !math.IsNaN(v) && c.Unit == chart.Seconds {
				f.None = ""
			}
		}
	}
	if f.None == "" {
		c.Title += ", " + unit
		f.SVG, f.Legend = template.HTML(c.SVG()), template.HTML(c.Legend()) //nolint:gosec // package chart escapes all texts
	}
	return f
}

// looks sets how a series looks; see chart.Series.
func looks(look int, s chart.Series) chart.Series {
	s.Look = look
	return s
}

// values returns a series with a value of each point.
func values(s history.Series, name string, value func(c history.Counts) float64) chart.Series {
	out := chart.Series{Name: name}
	for _, c := range s.Points {
		out.Values = append(out.Values, value(c))
	}
	return out
}

// tasks are the charts of counts and of durations.
func tasks(s history.Series) []Figure {
	every := step(s.Range.Step)
	count := func(name string, n func(c history.Counts) int) chart.Series {
		return values(s, name, func(c history.Counts) float64 { return float64(n(c)) })
	}
	list := []Figure{
		figure("tasks", "tasks in "+every, "No task was received or ended.", chart.Chart{Title: "Tasks", From: s.From, Step: s.Range.Step, Series: []chart.Series{
			count("received", func(c history.Counts) int { return c.Received }), count("decided", func(c history.Counts) int { return c.Decided }),
			count("done", func(c history.Counts) int { return c.Done }), count("failed", func(c history.Counts) int { return c.Failed }),
		}}),
		figure("outcomes", "tasks in "+every, "No task ended.", chart.Chart{Title: "Outcomes", Bars: true, From: s.From, Step: s.Range.Step, Series: []chart.Series{
			looks(3, count("written to GitHub", func(c history.Counts) int { return c.Outcomes[history.Applied] + c.Outcomes[history.Partial] })),
			looks(1, count("nothing written", func(c history.Counts) int {
				return c.Done - c.Outcomes[history.Applied] - c.Outcomes[history.Partial]
			})),
			looks(4, count("failed without a decision, or cancelled", func(c history.Counts) int { return c.Outcomes[history.NoDecision] + c.Outcomes[history.Cancelled] })),
			looks(2, count("failed when applied", func(c history.Counts) int { return c.Outcomes[history.NotApplied] })),
		}}),
	}
	for _, d := range []struct {
		id, title string
		of        func(c history.Counts) history.Histogram
	}{
		{"waiting", "Waiting for a claim", func(c history.Counts) history.Histogram { return c.Waiting }},
		{"deciding", "Deciding", func(c history.Counts) history.Histogram { return c.Deciding }},
		{"applying", "Applying", func(c history.Counts) history.Histogram { return c.Applying }},
	} {
		list = append(list, figure(d.id, "time a task took", "No task got that far.", chart.Chart{Title: d.title, Unit: chart.Seconds, From: s.From, Step: s.Range.Step, Series: []chart.Series{
			values(s, "p50", func(c history.Counts) float64 { return percentile(d.of(c), 0.5) }),
			values(s, "p99", func(c history.Counts) float64 { return percentile(d.of(c), 0.99) }),
		}}))
	}
	return list
}

// budgets are the charts of the calls to GitHub. The accounts with the most calls come first.
func budgets(s history.Series) []Figure {
	if len(s.Budgets) == 0 {
		return nil
	}
	calls := chart.Chart{Title: "Calls to GitHub", Bars: true, From: s.From, Step: s.Range.Step}
	left := chart.Chart{Title: "Calls left of GitHub's hour", From: s.From, Step: s.Range.Step}
	for _, b := range s.Budgets[:min(len(s.Budgets), chart.MaxSeries)] {
		made, remaining := chart.Series{Name: word(b.Account)}, chart.Series{Name: word(b.Account)}
		for _, p := range b.Points {
			made.Values = append(made.Values, float64(p.Calls))
			remaining.Values = append(remaining.Values, float64(p.Remaining)) // negative: not known
		}
		calls.Series, left.Series = append(calls.Series, made), append(left.Series, remaining)
	}
	return []Figure{
		figure("calls", "calls in "+step(s.Range.Step), "GitHub was not called.", calls),
		figure("left", "lowest number of calls", "GitHub reported no limit.", left),
	}
}

// accounts lists the calls to GitHub in the whole range.
func accounts(s history.Series) []Account {
	var list []Account
	for _, b := range s.Budgets[:min(len(s.Budgets), 20)] {
		a := Account{word(b.Account), chart.Count.Format(float64(b.Calls())), "not reported"}
		for _, p := range b.Points {
			if p.Remaining >= 0 {
				a.Left = fmt.Sprintf("%d of %d", p.Remaining, p.Limit)
			}
		}
		list = append(list, a)
	}
	return list
}

// notes tells what the numbers lack.
func notes(s history.Series) []string {
	var list []string
	if !s.Pending.IsZero() {
		list = append(list, "Tasks since "+s.Pending.UTC().Format("2006-01-02 15:04 UTC")+" are not all counted yet. The server counts them once a minute.")
	}
	if s.Total.Skewed > 0 {
		list = append(list, fmt.Sprintf("%d times were negative, because a clock was set back. They count as 0.", s.Total.Skewed))
	}
	if s.Future > 0 {
		list = append(list, "Some tasks have times in the future, because a clock was set back. They are not shown.")
	}
	return list
}

// step returns the length of a step for people.
func step(d time.Duration) string {
	switch {
	case d == time.Minute:
		return "a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d == 24*time.Hour:
		return "a day"
	}
	return fmt.Sprintf("%d hours", int(d.Hours()))
}

// outcomeName returns an outcome for people.
func outcomeName(o history.Outcome) string {
	switch o {
	case history.Applied:
		return "carried out"
	case history.Partial:
		return "partly carried out"
	case history.Refused:
		return "refused by GitHub"
	case history.Planned:
		return "planned, nothing written"
	case history.Nothing:
		return "nothing to do"
	case history.Escalated:
		return "left to a person"
	case history.Suggested:
		return "suggested"
	case history.Unknown:
		return "done, without a readable report"
	case history.NoDecision:
		return "failed without a decision"
	case history.NotApplied:
		return "failed when applied"
	case history.Cancelled:
		return "cancelled"
	}
	return string(o)
}

// word shortens an untrusted name.
func word(s string) string {
	const most = 80
	r := []rune(sanitize.Line(s))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	return cmp.Or(string(r), "no name")
}
