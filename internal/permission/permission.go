// Package permission decides whether an action of a rule or an agent is carried out or proposed, if the policy
// demands that permissions are earned. The runner, reports and announcements of changes all use its
// decision.
package permission

import (
	"slices"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// The states of a pair of a source and an action.
const (
	Applied    = "applied"    // it has earned the permission
	Proposed   = "proposed"   // it has not, or lost it
	Trusted    = "trusted"    // the policy applies it whatever the record contains
	Distrusted = "distrusted" // the policy proposes it whatever the record contains
)

// Rules are all that the state of a pair depends on, except its track record. They are safe for concurrent
// use.
type Rules struct {
	Policy policy.Policy // which demands that permissions are earned
	Shared bool          // other programs can write the records; then closing and locking are never earned
}

// Fixed returns the state of a pair that does not depend on its track record, and the reason unless it is Trusted.
// ok is false if the track record decides. rule is the name of the rule, as in [memory.Pair].
func (r Rules) Fixed(k memory.PairKey, rule string) (state, why string, ok bool) {
	source := policy.SourceOf(k.Source, rule)
	switch {
	case r.Policy.Distrusted(source, k.Action, k.Value):
		return Distrusted, "policy.earn.distrust lists it", true
	// What the policy proposes in spite of the greatest confidence cannot be earned.
	case r.Policy.Proposes(k.Action, protocol.ConfidenceHigh, false):
		return Distrusted, "the policy always proposes it", true
	case r.Policy.Trusted(source, k.Action, k.Value):
		return Trusted, "", true
	case r.Shared && policy.IsGrave(k.Action):
		return Proposed, k.Action + " is not earned by records that each job of the repository can write, as in artifacts; policy.earn.trust can list it", true
	}
	return "", "", false
}

// State returns the state of a pair by its track record, and the reason unless it is Trusted. Outcomes from before a
// reset in the policy do not count.
func (r Rules) State(p memory.Pair) (state, why string) {
	if state, why, ok := r.Fixed(p.PairKey, p.Name); ok {
		return state, why
	}
	o := memory.Outcomes{Pairs: []memory.Pair{p}}
	o.Reset(p.PairKey, r.Policy.ResetAt(policy.SourceOf(p.Source, p.Name)))
	p = o.Pairs[0]
	t := r.Threshold(p.Action)
	if p.Earned(t) {
		return Applied, p.Explain(t)
	}
	return Proposed, p.Explain(t)
}

// Threshold returns the proof that actions of a type need, without the result of a replay.
func (r Rules) Threshold(action string) memory.Threshold {
	t := r.Policy.Threshold(action)
	return memory.Threshold{Bound: t.Bound, Of: t.Of}
}

// Effective returns the changes of permissions that change what Foreman does. A change of a pair
// whose state is fixed changes nothing.
func (r Rules) Effective(list []memory.PermissionChange) []memory.PermissionChange {
	return slices.DeleteFunc(slices.Clone(list), func(c memory.PermissionChange) bool {
		_, _, fixed := r.Fixed(c.PairKey, c.Name)
		return fixed
	})
}
