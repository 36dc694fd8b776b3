package policy

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// earned reports whether a section demands that actions are earned.
func earned(s Section) bool { return s.Automation == AutomationEarned }

// earn merges the conditions under which actions are earned. If theirs demands that actions are earned,
// its absent conditions are the defaults, which mine must not loosen.
func (t *tightening) earn(theirs, mine Section) *EarnSection {
	a, b := valueOf(theirs.Earn), valueOf(mine.Earn)
	if theirs.Earn == nil && mine.Earn == nil {
		return nil
	}
	of := earning{section: a, policy: theirs.Policy(), demands: earned(theirs)}
	out := EarnSection{
		Bound:    stricterOf(t, "earn.bound", of.bound(), a.Bound, b.Bound),
		Of:       stricterOf(t, "earn.of", of.of(), a.Of, b.Of),
		Actions:  t.thresholds(of, b),
		Trust:    t.trust(of, b.Trust),
		Distrust: union(b.Distrust, a.Distrust),
		Reset:    t.reset(a.Reset, b.Reset),
		Evidence: b.Evidence,
	}
	if out.Evidence == "" {
		out.Evidence = a.Evidence
	}
	return &out
}

// An earning is the part earn of a policy that must not be loosened.
type earning struct {
	section EarnSection
	policy  Policy
	demands bool // absent values count as the defaults
}

// bound returns the bound for most actions; nil: none is set.
func (e earning) bound() *float64 {
	if e.section.Bound == nil && e.demands {
		return &[]float64{defaultThreshold("").Bound}[0]
	}
	return e.section.Bound
}

// of returns the number of outcomes for most actions; nil: none is set.
func (e earning) of() *int {
	if e.section.Of == nil && e.demands {
		return &[]int{defaultThreshold("").Of}[0]
	}
	return e.section.Of
}

// threshold returns the proof for actions of a type. Fields that are not set are nil.
func (e earning) threshold(action string) ThresholdSection {
	all, own := e.policy.Threshold(action), e.section.Actions[action]
	out := ThresholdSection{&all.Bound, &all.Of}
	if !e.demands && own.Bound == nil && e.section.Bound == nil {
		out.Bound = nil
	}
	if !e.demands && own.Of == nil && e.section.Of == nil {
		out.Of = nil
	}
	return out
}

// stricterOf returns the higher value, and records mine as a Loosening if it is lower than what counts.
// theirs is nil if the file does not set the value, although a default may count.
func stricterOf[N int | float64](t *tightening, field string, counts, theirs, mine *N) *N {
	switch {
	case mine == nil:
		return theirs
	case counts == nil || *mine >= *counts:
		return mine
	}
	t.found = append(t.found, Loosening{Field: field, Counts: fmt.Sprint(*counts)})
	return counts
}

// thresholds merges the proofs for single types of actions. A value for a type in one file also has to
// meet the value for all types in the other.
func (t *tightening) thresholds(theirs earning, mine EarnSection) map[string]ThresholdSection {
	if theirs.section.Actions == nil && mine.Actions == nil {
		return nil
	}
	out := map[string]ThresholdSection{}
	general := earning{section: mine, policy: Section{Earn: &mine}.Policy()}
	for _, action := range slices.Sorted(maps.Keys(mine.Actions)) {
		counts, field := theirs.threshold(action), "earn."+action
		out[action] = ThresholdSection{
			stricterOf(t, field+".bound", counts.Bound, theirs.section.Actions[action].Bound, mine.Actions[action].Bound),
			stricterOf(t, field+".of", counts.Of, theirs.section.Actions[action].Of, mine.Actions[action].Of),
		}
	}
	for action, own := range theirs.section.Actions {
		merged, all := out[action], general.threshold(action)
		if mine.Actions[action].Bound == nil {
			merged.Bound = higher(own.Bound, all.Bound)
		}
		if mine.Actions[action].Of == nil {
			merged.Of = higher(own.Of, all.Of)
		}
		out[action] = merged
	}
	return out
}

// higher returns the higher one of two values; a value alone stays as it is.
func higher[N int | float64](a, b *N) *N {
	if a == nil || b == nil || *a >= *b {
		return a
	}
	return b
}

// trust returns the entries of both files that the other one lists, too. If theirs demands that actions are
// earned, mine adds none.
func (t *tightening) trust(theirs earning, mine []string) []string {
	list := theirs.section.Trust
	if list == nil && theirs.demands {
		list = []string{}
	}
	out := t.list("earn.trust", list, mine, func(entry, other string) bool {
		o := ParseTrusted(other)
		return ParseTrusted(entry).matches(o.Source, o.Action, o.Value)
	})
	if len(out) == 0 && theirs.section.Trust == nil && theirs.demands {
		return nil
	}
	return out
}

// reset returns the later day for each source: fewer outcomes count then.
func (t *tightening) reset(theirs, mine map[string]time.Time) map[string]time.Time {
	if theirs == nil {
		return mine
	}
	out := maps.Clone(theirs)
	for _, source := range slices.Sorted(maps.Keys(mine)) {
		day, ok := theirs[source]
		if ok && day.After(mine[source]) {
			t.found = append(t.found, Loosening{Field: "earn.reset." + source, Counts: day.Format(time.DateOnly)})
			continue
		}
		out[source] = mine[source]
	}
	return out
}
