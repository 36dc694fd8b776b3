package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

// A Judgment is the result of judging the actions of a repository.
type Judgment struct {
	Judged  int // actions whose outcome became known, with those that shadow mode only planned
	Undone  int // those of them that people undid or rejected; without those of shadow mode
	Reads   int // calls to read issues
	Waiting int // issues with actions that may be old enough, which are left for the next time
	// Changes are the permissions that pairs got or lost, without those that change nothing, because the policy or the
	// kind of memory decides; nil if the policy does not demand that permissions are earned.
	Changes []memory.PermissionChange
	// Outcomes are those of the repository afterwards; nil: there are none, or they could not be read.
	Outcomes *memory.Outcomes
	// Scores are those of shadow mode that an earlier version counted; nil: there are none.
	Scores *memory.Scores
}

// Judge judges the actions of a repository that are older than [config.Config.JudgeTime], and saves their
// outcomes in the record of the repository. It makes at most [policy.Policy.Reads] calls to read issues; the next call continues with
// the remaining issues. Only one process may judge a repository at a time. It needs Memory.Agenda and Host.Issues, and
// does nothing in a dry run or with a memory that cannot be written. It ends early when stop returns true; nil: it
// does not. warn receives warnings for maintainers.
func (r *Runner) Judge(ctx context.Context, repo triage.Repo, stop func() bool, warn func(format string, args ...any)) (Judgment, error) {
	set := r.setup
	return set.judge(ctx, repo, stop, warn)
}

// judge is Judge with the settings of a call.
func (s setup) judge(ctx context.Context, repo triage.Repo, stop func() bool, warn func(format string, args ...any)) (Judgment, error) {
	m := s.o.Memory
	if !s.counts() {
		return Judgment{}, nil
	}
	sum, err := judge.Pass{
		Repo: repo, Store: m.Agenda, Host: s.o.Host.Issues, Bot: s.login(), After: s.c.JudgeTime(), Now: s.o.Clock.Now(),
		Threshold: s.thresholds(ctx, repo, warn), Reset: s.resetAt, Keep: s.c.Policy.Earned, Reads: s.c.Policy.Reads(), LoadCost: m.LoadCalls, Stop: stop, Warn: warn,
	}.Run(ctx)
	j := Judgment{Judged: sum.Judged, Undone: sum.Undone, Reads: sum.Reads, Waiting: sum.Waiting, Outcomes: sum.Outcomes, Scores: sum.Scores}
	if s.c.Policy.Earned {
		j.Changes = s.permissions().Effective(sum.Changes)
	}
	return j, err
}

// counts reports whether outcomes can be counted: there is a memory that a pass can search, and it can be written.
func (s setup) counts() bool {
	m := s.o.Memory
	return m.Agenda != nil && !m.Discards && !m.ReadOnly && !s.tryOnly && s.o.Host.Issues != nil
}

// threshold returns the proof that a pair needs, without the result of a replay.
func (s setup) threshold(k memory.PairKey) memory.Threshold {
	return s.permissions().Threshold(k.Action)
}

// permissions returns the rules by which a pair is carried out or proposed.
func (s setup) permissions() permission.Rules {
	return permission.Rules{Policy: s.c.Policy, Shared: s.o.Memory.Shared}
}

func (s setup) resetAt(k memory.PairKey, rule string) time.Time {
	return s.c.Policy.ResetAt(policy.SourceOf(k.Source, rule))
}

// earned returns the function for [plan.Input.Earned]. It reads the record of the repository when the first
// action needs it. A record that cannot be read permits no action; neither does that of the issue.
func (a attempt) earned(ctx context.Context) func(from triage.Source, k memory.PairKey) (ok bool, why string) {
	rules := a.permissions()
	return func(from triage.Source, k memory.PairKey) (bool, string) {
		if state, why, ok := rules.Fixed(k, from.ID()); ok {
			return state == permission.Trusted, why
		}
		if !judge.Judged(k.Action) {
			return false, k.Action + " is never judged; policy.earn.trust can list it"
		}
		o, why := a.reads.outcomes(ctx)
		if why != "" {
			return false, why
		}
		pair, known := o.Pair(k)
		if !known {
			pair.PairKey = k
		}
		pair.Name = from.ID()
		state, why := rules.State(pair)
		if state != permission.Applied {
			return false, why
		}
		// It is unknown whether people rejected it on this issue if the record cannot be read.
		if _, err := a.reads.answered(ctx); err != nil {
			return false, "the record of the issue cannot be read"
		}
		return true, ""
	}
}
