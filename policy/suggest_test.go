package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// TestProposes checks which actions each level proposes.
func TestProposes(t *testing.T) {
	t.Parallel()
	const none, low, medium, high = protocol.Confidence(""), protocol.ConfidenceLow, protocol.ConfidenceMedium, protocol.ConfidenceHigh
	for _, tt := range []struct {
		level   policy.Automation
		carried []protocol.Confidence // the others are proposed
	}{
		{"", []protocol.Confidence{medium, high}},
		{policy.AutomationFull, []protocol.Confidence{medium, high}},
		{policy.AutomationBalanced, []protocol.Confidence{medium, high}},
		{policy.AutomationCautious, []protocol.Confidence{high}},
		{policy.AutomationFullControl, nil},
		{"unknown", nil},
	} {
		for _, confidence := range []protocol.Confidence{none, low, medium, high} {
			p, want := policy.Policy{Automation: tt.level}, !slices.Contains(tt.carried, confidence)
			if got := p.Proposes(protocol.ActionLock, confidence, false); got != want {
				t.Errorf("%q, %q: proposes is %t", tt.level, confidence, got)
			}
			if !p.Proposes(protocol.ActionLock, confidence, true) {
				t.Errorf("%q, %q: not proposed although the action asks for it", tt.level, confidence)
			}
			p.Approve = []string{protocol.ActionComment}
			if got := p.Proposes(protocol.ActionLock, confidence, false); got != want {
				t.Errorf("%q, %q: approval of comments makes it %t", tt.level, confidence, got)
			}
			if !p.Proposes(protocol.ActionComment, confidence, false) {
				t.Errorf("%q, %q: not proposed although the policy asks for approval", tt.level, confidence)
			}
		}
	}
}

// TestProposesApproved checks which types of actions an entry of Approve names.
func TestProposesApproved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry, action string
		want          bool
	}{
		{protocol.ActionAddLabel, protocol.ActionAddLabel, true},
		{protocol.ActionAddLabel, protocol.ActionAddLabels, true},
		{protocol.ActionAddLabels, protocol.ActionAddLabel, true},
		{protocol.ActionAddLabels, protocol.ActionAddLabels, true},
		{protocol.ActionAddLabels, protocol.ActionRemoveLabel, false},
		{protocol.ActionCloseIssue, protocol.ActionMarkDuplicate, false},
		{protocol.ActionComment, protocol.ActionUpdateComment, false},
		{"page_oncall", "page_oncall", true}, // an action of the program's own
		{"page_oncall", protocol.ActionComment, false},
	} {
		p := policy.Policy{Approve: []string{protocol.ActionReact, tt.entry}}
		if got := p.Proposes(tt.action, protocol.ConfidenceHigh, false); got != tt.want {
			t.Errorf("approve %s: proposes %s: %t", tt.entry, tt.action, got)
		}
	}
}

// TestTightenProposes checks that the merged policy proposes what one of the two policies proposes,
// for every pair of levels.
func TestTightenProposes(t *testing.T) {
	t.Parallel()
	levels := append(policy.Automations(), "")
	confidences := []protocol.Confidence{protocol.ConfidenceLow, protocol.ConfidenceMedium, protocol.ConfidenceHigh}
	for _, theirs := range levels {
		for _, mine := range levels {
			a := policy.Section{Automation: theirs, Approve: []string{protocol.ActionLock}}
			b := policy.Section{Automation: mine, Approve: []string{protocol.ActionComment}}
			merged, looser := policy.Tighten(a, b)
			if ignored := merged.Automation != mine && mine != ""; ignored != (len(looser) > 0) {
				t.Errorf("%q and %q become %q: ignored %+v", theirs, mine, merged.Automation, looser)
			}
			for _, action := range []string{protocol.ActionLock, protocol.ActionComment, protocol.ActionAddLabel} {
				for _, confidence := range confidences {
					either := a.Policy().Proposes(action, confidence, false) || b.Policy().Proposes(action, confidence, false)
					if got := merged.Proposes(action, confidence, false); got != either {
						t.Errorf("%q and %q: proposes %s with %s: %t, one of both %t", theirs, mine, action, confidence, got, either)
					}
				}
			}
		}
	}
}

func TestProposalTTL(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct{ set, want time.Duration }{
		{0, 30 * day}, {-day, 30 * day}, {time.Hour, day}, {day, day}, {7 * day, 7 * day}, {365 * day, 365 * day}, {366 * day, 365 * day},
	} {
		if got := (policy.Policy{SuggestionTTL: tt.set}).ProposalTTL(); got != tt.want {
			t.Errorf("%s: got %s", tt.set, got)
		}
	}
}
