package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

const (
	addLabel, addLabels, closeIssue = protocol.ActionAddLabel, protocol.ActionAddLabels, protocol.ActionCloseIssue
	duplicate, lock, comment        = protocol.ActionMarkDuplicate, protocol.ActionLock, protocol.ActionComment
)

func TestThreshold(t *testing.T) {
	t.Parallel()
	per := func(action string, bound float64, of int) map[string]policy.Threshold {
		return map[string]policy.Threshold{action: {Bound: bound, Of: of}}
	}
	for _, tt := range []struct {
		name, action string
		earn         policy.Earn
		want         policy.Threshold
	}{
		{"default", addLabel, policy.Earn{}, policy.Threshold{Bound: 0.85, Of: 20}},
		{"default of closing", closeIssue, policy.Earn{}, policy.Threshold{Bound: 0.95, Of: 60}},
		{"default of duplicates", duplicate, policy.Earn{}, policy.Threshold{Bound: 0.95, Of: 60}},
		{"default of locking", lock, policy.Earn{}, policy.Threshold{Bound: 0.95, Of: 60}},
		{"an own action", "page_oncall", policy.Earn{}, policy.Threshold{Bound: 0.85, Of: 20}},
		{"a bound", comment, policy.Earn{Bound: 0.6}, policy.Threshold{Bound: 0.6, Of: 20}},
		{"a number", comment, policy.Earn{Of: 5}, policy.Threshold{Bound: 0.85, Of: 5}},
		{"lower ones do not hold for closing", closeIssue, policy.Earn{Bound: 0.6, Of: 5}, policy.Threshold{Bound: 0.95, Of: 60}},
		{"higher ones do", lock, policy.Earn{Bound: 0.98, Of: 200}, policy.Threshold{Bound: 0.98, Of: 200}},
		{"of one type", closeIssue, policy.Earn{Actions: per(closeIssue, 0.7, 10)}, policy.Threshold{Bound: 0.7, Of: 10}},
		{"a part of one type", closeIssue, policy.Earn{Bound: 0.97, Actions: per(closeIssue, 0, 10)}, policy.Threshold{Bound: 0.97, Of: 10}},
		{"of another type", duplicate, policy.Earn{Actions: per(closeIssue, 0.7, 10)}, policy.Threshold{Bound: 0.95, Of: 60}},
		{"several labels", addLabels, policy.Earn{Actions: per(addLabel, 0.7, 10)}, policy.Threshold{Bound: 0.7, Of: 10}},
		{"beyond the range", addLabel, policy.Earn{Bound: 7, Of: 1 << 40}, policy.Threshold{Bound: policy.MaxBound, Of: policy.MaxOf}},
		{"below the range", addLabel, policy.Earn{Bound: -1, Of: -1}, policy.Threshold{Bound: 0.85, Of: 20}},
	} {
		if got := (policy.Policy{Earn: tt.earn}).Threshold(tt.action); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestFlawless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		t    policy.Threshold
		want int
	}{
		{policy.Threshold{Bound: 0.85, Of: 20}, 20}, {policy.Threshold{Bound: 0.95, Of: 60}, 60},
		{policy.Threshold{Bound: 0.9, Of: 20}, 25}, {policy.Threshold{Bound: 0.98, Of: 100}, 133},
	} {
		if got := tt.t.Flawless(); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.t, got, tt.want)
		}
	}
}

func TestTrusted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry, source, action, value string
		want                         bool
	}{
		{"crash", "crash", addLabel, "bug", true},
		{"crash", "crash", closeIssue, "", true},
		{"crash", "crash2", addLabel, "bug", false},
		{"crash", "Crash", addLabel, "bug", false},
		{"crash/add_label", "crash", addLabel, "bug", true},
		{"crash/add_label", "crash", addLabels, "bug", true},
		{"crash/add_label", "crash", closeIssue, "", false},
		{"crash/add_label/Kind/Bug", "crash", addLabel, "kind/bug", true},
		{"crash/add_label/kind", "crash", addLabel, "kind/bug", false},
		{"crash/add_label/bug", "crash", addLabel, "", false},
		{"agent:Triage", "agent:triage", addLabel, "bug", true},
		{"agent:triage", "triage", addLabel, "bug", false},
		{"triage", "agent:triage", addLabel, "bug", false},
		{"", "crash", addLabel, "bug", false},
		{"/add_label", "crash", addLabel, "bug", false},
	} {
		for _, distrust := range [][]string{nil, {"other", tt.entry}} {
			p := policy.Policy{Earn: policy.Earn{Trust: []string{"other", tt.entry}, Distrust: distrust}}
			if got := p.Trusted(tt.source, tt.action, tt.value); got != (tt.want && distrust == nil) {
				t.Errorf("%s: %s %s %s, distrust %v: trusted is %t", tt.entry, tt.source, tt.action, tt.value, distrust, got)
			}
			if got := p.Distrusted(tt.source, tt.action, tt.value); got != (tt.want && distrust != nil) {
				t.Errorf("%s: %s %s %s, distrust %v: distrusted is %t", tt.entry, tt.source, tt.action, tt.value, distrust, got)
			}
		}
	}
}

func TestResetAt(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	p := policy.Policy{Earn: policy.Earn{Reset: map[string]time.Time{"crash": day, "agent:Triage": day.AddDate(0, 0, 1)}}}
	for source, want := range map[string]time.Time{"crash": day, "agent:triage": day.AddDate(0, 0, 1), "Crash": {}, "triage": {}, "": {}} {
		if got := p.ResetAt(source); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", source, got, want)
		}
	}
}

func TestJudging(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct{ after, shadow, want time.Duration }{
		{0, 0, 14 * day}, {0, 7 * day, 7 * day}, {3 * day, 7 * day, 3 * day}, {0, time.Hour, day}, {time.Hour, 0, day}, {-day, 0, 14 * day}, {365 * day, 0, 90 * day},
	} {
		if got := (policy.Policy{JudgeAfter: tt.after, ShadowPeriod: tt.shadow}).JudgeTime(); got != tt.want {
			t.Errorf("after %s, shadow period %s: got %s, want %s", tt.after, tt.shadow, got, tt.want)
		}
	}
	for set, want := range map[int]int{0: 200, -1: 200, 7: 7, 1000: 1000, 9999: 1000} {
		if got := (policy.Policy{JudgeReads: set}).Reads(); got != want {
			t.Errorf("%d reads: got %d, want %d", set, got, want)
		}
	}
}

// FuzzTightenEarn merges random conditions. Where theirs demands that actions are earned, the merged policy
// asks for at least as much as each of the two, and trusts no source that theirs does not trust.
func FuzzTightenEarn(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 2))
		theirs, mine := randomEarn(random), randomEarn(random)
		a, b := theirs.Policy(), mine.Policy()
		merged, looser := policy.Tighten(theirs, mine)
		if merged.Earned != (a.Earned || b.Earned) {
			t.Errorf("earned is %t", merged.Earned)
		}
		for _, action := range []string{addLabel, addLabels, closeIssue, lock, comment} {
			got, x, y := merged.Threshold(action), a.Threshold(action), b.Threshold(action)
			if a.Earned && (got.Bound < x.Bound || got.Of < x.Of) {
				t.Errorf("%s: %v is looser than theirs, %v", action, got, x)
			}
			if got.Bound < min(x.Bound, y.Bound) || got.Of < min(x.Of, y.Of) {
				t.Errorf("%s: %v is looser than both, %v and %v", action, got, x, y)
			}
			for _, source := range []string{"a", "b", "agent:x"} {
				for _, value := range []string{"", "bug", "docs"} {
					if a.Earned && merged.Trusted(source, action, value) && !a.Trusted(source, action, value) {
						t.Errorf("only mine trusts %s/%s/%s", source, action, value)
					}
					if (a.Distrusted(source, action, value) || b.Distrusted(source, action, value)) != merged.Distrusted(source, action, value) {
						t.Errorf("distrust of %s/%s/%s is lost", source, action, value)
					}
					if len(looser) == 0 && b.Trusted(source, action, value) && len(theirs.Earn.Distrust) == 0 && !merged.Trusted(source, action, value) {
						t.Errorf("trust in %s/%s/%s is ignored silently", source, action, value)
					}
				}
				if at := merged.ResetAt(source); at.Before(a.ResetAt(source)) || at.Before(b.ResetAt(source)) {
					t.Errorf("%s counts outcomes since %v", source, at)
				}
			}
		}
	})
}

// randomEarn returns a section with some of the conditions.
func randomEarn(random *rand.Rand) policy.Section {
	some := func(n int) bool { return random.IntN(n) == 0 }
	threshold := func() (s policy.ThresholdSection) {
		if some(2) {
			s.Bound = new([]float64{0.5, 0.8, 0.85, 0.9, 0.97}[random.IntN(5)])
		}
		if some(2) {
			s.Of = new([]int{1, 10, 20, 60, 100}[random.IntN(5)])
		}
		return s
	}
	e, all := policy.EarnSection{}, threshold()
	e.Bound, e.Of = all.Bound, all.Of
	for _, action := range []string{addLabel, closeIssue, lock} {
		if some(2) {
			if e.Actions == nil {
				e.Actions = map[string]policy.ThresholdSection{}
			}
			e.Actions[action] = threshold()
		}
	}
	entries := []string{"a", "a/add_label", "a/add_label/bug", "b", "b/close_issue", "agent:x", "agent:X/add_label/docs"}
	pick := func() []string {
		return slices.DeleteFunc(slices.Clone(entries), func(string) bool { return !some(3) })
	}
	if some(2) {
		e.Trust = pick()
	}
	if some(3) {
		e.Distrust = pick()
	}
	for _, source := range []string{"a", "agent:x"} {
		if some(3) {
			if e.Reset == nil {
				e.Reset = map[string]time.Time{}
			}
			e.Reset[source] = time.Date(2026, 1, 1+random.IntN(3), 0, 0, 0, 0, time.UTC)
		}
	}
	s := policy.Section{Earn: &e}
	if some(2) {
		s.Automation = policy.AutomationEarned
	}
	return s
}
