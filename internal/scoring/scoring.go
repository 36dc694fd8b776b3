// Package scoring computes how well an issue suits a contributor. A score is the sum of the
// impacts of rules, and each impact has an explanation. The package reads no data: a score depends
// only on the rules and the [Facts].
package scoring

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/triage"
)

// Facts are the input of a score.
type Facts struct {
	Issue triage.Issue
	Repo  Repo
	// NamesFile reports whether the issue names a file of the repository.
	NamesFile bool
	Evidence  []evidence.Evidence
	// Unread means that the open pull requests could not be read. The risk of a duplicate is then at
	// least medium.
	Unread         bool
	Profile        Profile
	StaleAfterDays int // 0: an issue is never stale
	Now            time.Time
}

// A Repo contains the facts about a repository. The zero value means that it was not read.
type Repo struct {
	Known              bool
	Language           string // empty: none
	Topics             []string
	Stars              int
	PushedAt           time.Time
	Archived, Disabled bool
	License            bool
	DefaultBranch      string
	// OpenPulls is the number of open pull requests, or a lower bound of it; 0: not read.
	OpenPulls int
	// Contributing is set if there is a contributor guide. Tests is set if there are tests or
	// continuous integration. Both are false if the tree was not read.
	Contributing, Tests bool
}

// A Profile describes the issues that suit a contributor.
type Profile struct {
	Languages, Topics []string
	Types             []string // kinds of contributions
}

// RiskFlags are reasons not to work on an issue.
type RiskFlags struct {
	Stale             bool           `json:"stale"`
	DuplicatePRRisk   evidence.Level `json:"duplicatePrRisk"`
	SecuritySensitive bool           `json:"securitySensitive"`
}

// An Explanation describes the effect of one rule on a score.
type Explanation struct {
	Rule    string `json:"rule"` // a key of the breakdown
	Impact  int    `json:"impact"`
	Message string `json:"message"`
}

// A Breakdown contains the sum of the rules' impacts for each group of rules.
type Breakdown struct {
	Base              int `json:"base"`
	Clarity           int `json:"clarity"`
	Labels            int `json:"labels"`
	ProfileFit        int `json:"profileFit"`
	QualityFit        int `json:"qualityFit"`
	Staleness         int `json:"staleness"`
	DuplicatePRRisk   int `json:"duplicatePrRisk"`
	SecuritySensitive int `json:"securitySensitive"`
}

// A Result is a score with its explanation. The impacts of Explanation add up to the same sum as
// the values of Breakdown. Score is this sum, limited to the range from 0 to 100.
type Result struct {
	Score       int
	Band        string
	Breakdown   Breakdown
	Explanation []Explanation
	Risk        evidence.Level
	Flags       RiskFlags
	EffortHours int
}

// The bands of scores, from the best.
const (
	Excellent = "Excellent candidate"
	Good      = "Good candidate"
	Possible  = "Possible candidate"
	Risky     = "Risky candidate"
	Avoid     = "Avoid"
)

// The lowest scores of the bands.
const (
	excellentFrom = 85
	goodFrom      = 70
	possibleFrom  = 50
	riskyFrom     = 30
)

// Band returns the band of a score.
func Band(score int) string {
	switch {
	case score >= excellentFrom:
		return Excellent
	case score >= goodFrom:
		return Good
	case score >= possibleFrom:
		return Possible
	case score >= riskyFrom:
		return Risky
	}
	return Avoid
}

// Recommended reports whether to plan a contribution to the issue. The issue must not be worked on
// already, must not need private disclosure, and its score must be at least in the band
// [Possible].
func (r Result) Recommended() bool {
	return r.Score >= possibleFrom && r.Flags.DuplicatePRRisk != evidence.High && !r.Flags.SecuritySensitive
}

// Score applies the rules. The error is a condition that cannot be evaluated.
func (r *Rules) Score(f Facts) (Result, error) {
	out := Result{
		Flags: RiskFlags{
			Stale:             Stale(f.Issue, f.StaleAfterDays, f.Now),
			DuplicatePRRisk:   evidence.Risk(f.Evidence),
			SecuritySensitive: evidence.Sensitive(f.Issue),
		},
		EffortHours: effort(f.Issue),
	}
	if f.Unread && out.Flags.DuplicatePRRisk == evidence.Low {
		out.Flags.DuplicatePRRisk = evidence.Medium
	}
	sums, explanation, err := r.apply(newEnv(f, out.Flags))
	if err != nil {
		return Result{}, err
	}
	total := 0
	for i, group := range groups(&out.Breakdown) {
		*group.sum = sums[i]
		total += sums[i]
	}
	const most = 100
	out.Score = min(max(total, 0), most)
	out.Band = Band(out.Score)
	out.Explanation = explanation
	const lowFrom, lowEffort = 80, 4
	switch {
	case out.Flags.SecuritySensitive || out.Flags.DuplicatePRRisk == evidence.High || out.Score < possibleFrom:
		out.Risk = evidence.High
	case out.Score >= lowFrom && out.Flags.DuplicatePRRisk == evidence.Low && !out.Flags.Stale && out.EffortHours <= lowEffort:
		out.Risk = evidence.Low
	default:
		out.Risk = evidence.Medium
	}
	return out, nil
}

// A group is a key of the breakdown.
type group struct {
	name string
	sum  *int
}

// groups returns the groups of rules, in the order of the breakdown.
func groups(b *Breakdown) []group {
	return []group{
		{"base", &b.Base},
		{"clarity", &b.Clarity},
		{"labels", &b.Labels},
		{"profileFit", &b.ProfileFit},
		{"qualityFit", &b.QualityFit},
		{"staleness", &b.Staleness},
		{"duplicatePrRisk", &b.DuplicatePRRisk},
		{"securitySensitive", &b.SecuritySensitive},
	}
}

// groupNames returns the names of the groups.
func groupNames() []string {
	var names []string
	for _, g := range groups(&Breakdown{}) {
		names = append(names, g.name)
	}
	return names
}

// apply evaluates the rules group by group.
func (r *Rules) apply(e env) (sums []int, explanation []Explanation, err error) {
	explanation = []Explanation{}
	for _, name := range groupNames() {
		limit, limited := r.limits[name]
		sum := 0
		for _, rule := range r.rules {
			if rule.group != name {
				continue
			}
			holds, err := rule.holds(e)
			if err != nil {
				return nil, nil, fmt.Errorf("score by %s: %w", rule.at, err)
			}
			if !holds {
				continue
			}
			next := sum + rule.impact
			if limited {
				next = min(max(next, limit.Min), limit.Max)
			}
			if next != sum {
				explanation = append(explanation, Explanation{Rule: name, Impact: next - sum, Message: rule.message})
			}
			sum = next
		}
		sums = append(sums, sum)
	}
	return sums, explanation, nil
}

// Stale reports whether an issue was not updated for more than after days; an after of 0 means
// never.
func Stale(i triage.Issue, after int, now time.Time) bool {
	return after > 0 && days(i.UpdatedAt, now) > after
}

// days returns the number of whole days from a moment to now; 0 if the moment is unknown or in the
// future.
func days(from, now time.Time) int {
	const day = 24
	if from.IsZero() || from.After(now) {
		return 0
	}
	return int(math.Floor(now.Sub(from).Hours() / day))
}

// fits reports whether has is true for one of the wanted words.
func fits(wanted []string, has func(string) bool) bool { return slices.ContainsFunc(wanted, has) }
