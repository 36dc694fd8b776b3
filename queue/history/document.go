package history

import (
	"encoding/json"
	"math"
	"time"
)

// The JSON of a Series is stable: new versions of this package only add keys. Times are in UTC,
// durations in seconds.
type document struct {
	Version int       `json:"version"`
	Range   string    `json:"range"`
	Agent   string    `json:"agent,omitempty"`
	Repo    string    `json:"repo,omitempty"`
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Step    int       `json:"step_seconds"`
	// Pending is as in Series; absent: no facts are missing.
	Pending time.Time       `json:"incomplete_since,omitzero"`
	Future  int             `json:"future,omitempty"`
	Total   countsDocument  `json:"total"`
	Points  []pointDocument `json:"points"`
	Budgets []budgetSeries  `json:"budgets"`
}

type pointDocument struct {
	At time.Time `json:"at"` // its beginning
	countsDocument
}

type countsDocument struct {
	Received int             `json:"received"`
	Decided  int             `json:"decided"`
	Done     int             `json:"done"`
	Failed   int             `json:"failed"`
	Outcomes map[Outcome]int `json:"outcomes"`
	Waiting  durations       `json:"waiting"`
	Deciding durations       `json:"deciding"`
	Applying durations       `json:"applying"`
	Skewed   int             `json:"skewed,omitempty"`
}

// durations are those of n tasks.
type durations struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_seconds"`
	P99 float64 `json:"p99_seconds"`
}

type budgetSeries struct {
	Account string        `json:"account"`
	Points  []budgetPoint `json:"points"`
}

type budgetPoint struct {
	At    time.Time `json:"at"`
	Calls int       `json:"calls"`
	Left  *int      `json:"left"` // null: not known
	Limit int       `json:"limit"`
}

// MarshalJSON implements json.Marshaler. The points of budgets without calls are left out.
func (s Series) MarshalJSON() ([]byte, error) {
	d := document{
		Version: 1, Range: s.Range.Name, Agent: s.Scope.Agent, Repo: s.Scope.Repo,
		From: s.From.UTC(), Until: s.Now.UTC(), Step: int(s.Range.Step.Seconds()),
		Pending: s.Pending, Future: s.Future, Total: documentOf(s.Total), Points: []pointDocument{}, Budgets: []budgetSeries{},
	}
	for i, c := range s.Points {
		d.Points = append(d.Points, pointDocument{s.At(i), documentOf(c)})
	}
	for _, b := range s.Budgets {
		one := budgetSeries{Account: b.Account, Points: []budgetPoint{}}
		for i, p := range b.Points {
			if p.Calls == 0 && p.Limit == 0 {
				continue
			}
			point := budgetPoint{At: s.At(i), Calls: p.Calls, Limit: p.Limit}
			if p.Remaining >= 0 {
				point.Left = &p.Remaining
			}
			one.Points = append(one.Points, point)
		}
		d.Budgets = append(d.Budgets, one)
	}
	return json.Marshal(d)
}

func documentOf(c Counts) countsDocument {
	if c.Outcomes == nil {
		c.Outcomes = map[Outcome]int{}
	}
	return countsDocument{c.Received, c.Decided, c.Done, c.Failed, c.Outcomes, durationsOf(c.Waiting), durationsOf(c.Deciding), durationsOf(c.Applying), c.Skewed}
}

func durationsOf(h Histogram) durations {
	return durations{h.N(), seconds(h.Percentile(0.5)), seconds(h.Percentile(0.99))}
}

// seconds rounds to three digits, because a percentile is not more exact.
func seconds(d time.Duration) float64 {
	s := d.Seconds()
	if s <= 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(s)))
	if scale < 1 {
		return math.Round(s)
	}
	return math.Round(s*scale) / scale
}
