package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// Plan decides on an event and plans the actions, and writes nothing: a dry run with [Report.Why]. It
// needs no host. So the result of a rule may depend on a look-up, such as the permission of a user. Then
// the rule is listed in Report.Undecided, and the report has the actions of the others. For such rules,
// use a Runner with Options.DryRun, and with a Host or Options.Supplied. The event must contain its
// issue; otherwise the error matches [triage.ErrNeedsHost].
func Plan(ctx context.Context, c *config.Config, d triage.Delivery) (Report, error) {
	r, err := New(Options{Config: c, DryRun: true, Explain: true})
	if err != nil {
		return Report{}, err
	}
	return r.Run(ctx, TaskIdentity{}, d)
}

// Explain returns for every rule of o.Config why it matches the event or does not. The event must
// contain its issue. Look-ups use o.Host and o.Memory, or o.Supplied, as in a run. Nothing is written.
func Explain(ctx context.Context, o Options, d triage.Delivery) ([]rules.RuleWhy, error) {
	f, err := Facts(ctx, o, d)
	if err != nil {
		return nil, fmt.Errorf("explain the rules: %w", err)
	}
	return newSetup(o).c.Rules.Explain(ctx, f), nil
}

// Facts returns the event in the form that the rules of o.Config read in a run. Look-ups use o.Host
// and o.Memory, or o.Supplied. The event must contain its issue.
func Facts(ctx context.Context, o Options, d triage.Delivery) (facts.Facts, error) {
	if d.Issue == nil {
		return facts.Facts{}, errNoIssue
	}
	s := newSetup(o)
	s.id.First = true // nothing is written, so there is nothing to look up
	return (decider{newAttempt(s, d, nil, func(string, ...any) {})}).facts(ctx), nil
}

var errNoIssue = errors.New("the event contains no issue")

// Replay returns the facts for evaluating the rules of a configuration on an event at the given
// time. l provides facts that are not in the event. The event must contain its issue. If a rule
// adds a label that the policy refuses, other rules do not see that label.
func Replay(c *config.Config, d triage.Delivery, l facts.Lookup, now time.Time) (facts.Facts, error) {
	if d.Issue == nil {
		return facts.Facts{}, fmt.Errorf("replay the rules: %w", errNoIssue)
	}
	f := facts.Of(d, now)
	f.Lookup, f.May = l, c.Policy.MayLabel
	return f, nil
}

// withRationales fills in the rationales of the proposed steps of rules that state none.
func withRationales(ctx context.Context, a attempt, dec decided, p *plan.Plan) {
	missing := func(s plan.Step) bool {
		return s.Verdict == triage.Suggest && s.Rationale == "" && s.Source.Rule != ""
	}
	if !slices.ContainsFunc(p.Steps, missing) {
		return
	}
	why := rationales(ctx, a, dec, *p)
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if s := &p.Steps[i]; missing(*s) {
			s.Rationale = sanitize.Rationale(why[s.Source.Rule])
		}
	}
}

// rationales returns why the rules of a plan fired, by their ids.
func rationales(ctx context.Context, a attempt, dec decided, p plan.Plan) map[string]string {
	f := decider{a}.facts(ctx)
	if dec.Retriaged {
		f = asOpened(a.d.AsOpened(), f)
	}
	f.Lookup, f.Effect = a.lookup(true), decider{a}.effect(false, dec.Retriaged)
	var ids []string
	for _, s := range p.Steps {
		if s.Source.Rule != "" && !slices.Contains(ids, s.Source.Rule) {
			ids = append(ids, s.Source.Rule)
		}
	}
	return a.c.Rules.Rationale(ctx, f, ids...)
}

// withPanel uses GitHub's panel of suggestions for a plan, where the panel is on.
func withPanel(ctx context.Context, a attempt, dec decided, r reviewed) reviewed {
	if r.err != nil || !r.plan.HasPanel() {
		return r
	}
	switch a.c.Policy.Suggestions {
	case policy.SuggestionsComment, policy.SuggestionsOff:
		return r
	case policy.SuggestionsGitHub:
	default:
		var t *triage.Timeline
		if a.reads.timeline.read {
			t = &a.reads.timeline.value
		}
		if !a.panels.on(a.d.FullRepo(), t, a.o.Clock.Now()) {
			return r
		}
	}
	var why map[string]string
	r.plan = r.plan.WithPanel(func(s *plan.Step) string {
		if s.Source.Rule == "" {
			return ""
		}
		if why == nil {
			why = rationales(ctx, a, dec, r.plan)
		}
		return sanitize.Rationale(why[s.Source.Rule])
	})
	return r
}
