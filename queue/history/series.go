package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Range is a period of time until now, in equal steps.
type Range struct {
	Name  string        // such as "24h"; empty: not a range
	Step  time.Duration // of a point
	Steps int
}

// The widths of the stored rows.
const (
	MinuteWidth = time.Minute
	HourWidth   = time.Hour
	// MinutesKept is how long the rows of minutes are kept.
	MinutesKept = 25 * time.Hour
)

// Ranges returns the ranges that can be read, the shortest first.
func Ranges() []Range {
	return []Range{
		{"1h", time.Minute, 60}, {"24h", 15 * time.Minute, 96}, {"7d", 2 * time.Hour, 84}, {"30d", 6 * time.Hour, 120}, {"90d", 24 * time.Hour, 90},
	}
}

// ParseRange returns the range with a name; "24h" for an empty name.
func ParseRange(name string) (Range, error) {
	if name == "" {
		name = "24h"
	}
	all := Ranges()
	if i := slices.IndexFunc(all, func(r Range) bool { return r.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	return Range{}, fmt.Errorf("the range must be one of %s", strings.Join(names, ", "))
}

// Width returns the width of the stored rows that the range is read from: [MinuteWidth] or [HourWidth].
func (r Range) Width() time.Duration {
	if r.Step%HourWidth == 0 {
		return HourWidth
	}
	return MinuteWidth
}

// From returns the beginning of the range whose last step contains now. Steps begin at multiples of
// their length since 1970.
func (r Range) From(now time.Time) time.Time {
	return Floor(now, r.Step).Add(-time.Duration(r.Steps-1) * r.Step)
}

// Floor returns the last multiple of a width since 1970 that is not after t.
func Floor(t time.Time, width time.Duration) time.Time {
	ms := t.UnixMilli()
	rest := ms % width.Milliseconds()
	if rest < 0 {
		rest += width.Milliseconds()
	}
	return time.UnixMilli(ms - rest).UTC()
}

// A Series is the history of a range. Its JSON is stable; see docs/server/history.md.
type Series struct {
	Range  Range
	Scope  Scope
	From   time.Time // beginning of the first point
	Now    time.Time // when the series was read, within the last point
	Points []Counts  // Range.Steps
	Total  Counts    // of all points
	// Future counts the facts after Now that were found, because a clock was set back. They are in
	// no point.
	Future int
	// Pending is the time since which facts may be missing, because too many were not recorded yet:
	// the server is recording the history of older tasks, or does not run. Zero: none is missing.
	Pending time.Time
	Budgets []BudgetSeries // by account; only for the scope of all tasks
}

// A BudgetSeries are the calls to GitHub with one account.
type BudgetSeries struct {
	Account string // untrusted
	Points  []BudgetPoint
}

// A BudgetPoint are the calls in one step.
type BudgetPoint struct {
	Calls int
	// Remaining is the lowest number of calls that GitHub still allowed, of Limit an hour; negative:
	// not known.
	Remaining, Limit int
}

// NewBudgetSeries returns a series of a range without calls.
func NewBudgetSeries(account string, r Range) BudgetSeries {
	b := BudgetSeries{account, make([]BudgetPoint, r.Steps)}
	for i := range b.Points {
		b.Points[i].Remaining = -1
	}
	return b
}

// Calls returns the number of all calls.
func (b BudgetSeries) Calls() (n int) {
	for _, p := range b.Points {
		n += p.Calls
	}
	return n
}

// Add adds the calls of another server, or of another part of the step.
func (p *BudgetPoint) Add(o BudgetPoint) {
	p.Calls += o.Calls
	p.Limit = max(p.Limit, o.Limit)
	if o.Remaining >= 0 && (p.Remaining < 0 || o.Remaining < p.Remaining) {
		p.Remaining = o.Remaining
	}
}

// NewSeries returns a series without facts.
func NewSeries(q Query, now time.Time) Series {
	return Series{Range: q.Range, Scope: q.Scope, From: q.Range.From(now), Now: now, Points: make([]Counts, q.Range.Steps)}
}

// Add adds a fact to the point that contains its time. Facts before the range are left out.
func (s *Series) Add(f Fact) {
	switch n := s.Index(f.At); {
	case f.At.After(s.Now):
		s.Future += f.Received + f.Decided + f.Done + f.Failed
	case n >= 0:
		s.Points[n].Add(f.Counts)
		s.Total.Add(f.Counts)
	}
}

// Index returns the index of the point that contains a time; negative: none does.
func (s *Series) Index(at time.Time) int {
	d := at.Sub(s.From)
	if d < 0 || d >= time.Duration(s.Range.Steps)*s.Range.Step {
		return -1
	}
	return int(d / s.Range.Step)
}

// At returns the beginning of a point.
func (s *Series) At(n int) time.Time { return s.From.Add(time.Duration(n) * s.Range.Step) }
