package permission_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// proven returns a pair of the rule crash that earned its permission by the default threshold.
func proven(action, value string) memory.Pair {
	k := memory.PairKey{Source: "rule:00000000000000aa", Action: action, Value: value}
	o := memory.Outcomes{}
	for n := range 60 {
		o.Count(k, "crash", memory.Result{Outcome: memory.OutcomeAccepted, Issue: n + 1, Author: strconv.Itoa(n), Acted: noon, At: noon}, permission.Rules{}.Threshold(action))
	}
	p, _ := o.Pair(k)
	return p
}

// TestState compares the states of proven and new pairs, and whether a change of the permission is announced.
func TestState(t *testing.T) {
	t.Parallel()
	label, closing := proven(protocol.ActionAddLabel, "bug"), proven(protocol.ActionCloseIssue, "")
	fresh := memory.Pair{PairKey: label.PairKey, Name: "crash"}
	earn := func(e policy.Earn) policy.Policy { return policy.Policy{Earned: true, Earn: e} }
	for _, tt := range []struct {
		name       string
		policy     policy.Policy
		shared     bool
		pair       memory.Pair
		state, why string
		announced  bool
	}{
		{"proven", earn(policy.Earn{}), false, label, permission.Applied, "60 of 60 kept", true},
		{"new", earn(policy.Earn{}), false, fresh, permission.Proposed, "0 of 0 kept", true},
		{"stricter policy", earn(policy.Earn{Of: 100}), false, label, permission.Proposed, "60 of 60 kept, bound 0.96; needs 100", true},
		{"distrusted", earn(policy.Earn{Distrust: []string{"crash/add_label/bug"}, Trust: []string{"crash"}}), false, label, permission.Distrusted, "policy.earn.distrust", false},
		{"trusted", earn(policy.Earn{Trust: []string{"crash"}}), false, fresh, permission.Trusted, "", false},
		{"other trusted", earn(policy.Earn{Trust: []string{"crash/add_label/docs"}}), false, fresh, permission.Proposed, "0 of 0 kept", true},
		{"approve", policy.Policy{Earned: true, Approve: []string{"add_labels"}}, false, label, permission.Distrusted, "the policy always proposes it", false},
		{"approve and trust", policy.Policy{Earned: true, Approve: []string{"add_labels"}, Earn: policy.Earn{Trust: []string{"crash"}}}, false, label, permission.Distrusted, "the policy always proposes it", false},
		{"shared, a label", earn(policy.Earn{}), true, label, permission.Applied, "60 of 60 kept", true},
		{"a close", earn(policy.Earn{}), false, closing, permission.Applied, "60 of 60 kept", true},
		{"shared, a close", earn(policy.Earn{}), true, closing, permission.Proposed, "close_issue is not earned by records", false},
		{"shared, a trusted close", earn(policy.Earn{Trust: []string{"crash"}}), true, closing, permission.Trusted, "", false},
		{"reset later", earn(policy.Earn{Reset: map[string]time.Time{"crash": noon.Add(time.Hour)}}), false, label, permission.Proposed, "0 of 0 kept", true},
		{"reset before", earn(policy.Earn{Reset: map[string]time.Time{"crash": noon}}), false, label, permission.Applied, "60 of 60 kept", true},
	} {
		rules := permission.Rules{Policy: tt.policy, Shared: tt.shared}
		state, why := rules.State(tt.pair)
		if state != tt.state || !strings.HasPrefix(why, tt.why) || (why == "") != (tt.why == "") {
			t.Errorf("%s: got %s (%s), want %s (%s)", tt.name, state, why, tt.state, tt.why)
		}
		for _, granted := range []bool{true, false} {
			list := rules.Effective([]memory.PermissionChange{{PairKey: tt.pair.PairKey, Name: tt.pair.Name, Granted: granted}})
			if (len(list) == 1) != tt.announced {
				t.Errorf("%s: announced %v", tt.name, list)
			}
		}
	}
}
