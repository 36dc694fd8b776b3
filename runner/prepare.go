package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/triage"
)

// prepare makes the reads that verdicts depend on: the issue as it is now and our
// comments on it when an earlier attempt may have written, what people did before, and
// each label that is to be added.
func (x *execution) prepare(ctx context.Context) error {
	x.journal.recall(x)
	if x.Resumed && x.open(nil) {
		if err := x.refresh(ctx); err != nil {
			return err
		}
	}
	if err := x.lookBack(ctx); err != nil {
		return err
	}
	x.lookAhead(ctx)
	known := x.labels // lower-case name → the repository's spelling, "" for none
	if known == nil {
		known = map[string]string{}
	}
	for i := range x.steps {
		s := &x.steps[i]
		if s.Verdict != triage.Do || s.landed || s.kind.limit != addsLabels || x.policy.CreateLabels {
			continue
		}
		if err := x.lookUp(ctx, s, known); err != nil {
			return err
		}
	}
	return nil
}

// open reports whether a step is still to be carried out for which want holds; nil
// means any.
func (x *execution) open(want func(*Step) bool) bool {
	for i := range x.steps {
		if s := &x.steps[i]; s.Verdict == triage.Do && !s.landed && (want == nil || want(s)) {
			return true
		}
	}
	return false
}

// lookBack passes over what people stand against, and what would be too much. Its one
// read is saved where nothing can have happened yet.
func (x *execution) lookBack(ctx context.Context) error {
	matters := func(s *Step) bool {
		return s.once != "" || paced(x.policy) && !s.noted() || s.kind.yield != nil && !s.Source.OverrideHumans
	}
	once := func(s *Step) bool { return s.once != "" }
	if x.Fresh && !x.Resumed && !x.open(once) || !x.open(matters) {
		return nil
	}
	read := x.Timeline
	if read == nil {
		read = (&past{host: x.Host, ref: x.Ref}).timeline
	}
	t, err := read(ctx)
	if err != nil {
		return err
	}
	if !t.Complete && len(t.Events) == 0 {
		x.warn("the end of the timeline of %s cannot be found: what we did before is not counted", x.Ref)
	}
	h := hindsight{Timeline: t, bot: x.Bot, issue: x.issue}
	if err := x.recollect(ctx, h); err != nil {
		return err
	}
	p := x.newPace(h)
	for i := range x.steps {
		s := &x.steps[i]
		if s.Verdict != triage.Do || s.landed {
			continue
		}
		if s.kind.yield != nil && !s.Source.OverrideHumans {
			s.kind.yield(ctx, x, h, s)
		}
		if s.Verdict == triage.Do && s.once != "" {
			x.onceOnly(ctx, h, s)
		}
		if s.Verdict == triage.Do && !s.noted() {
			p.hold(s)
			s.wait = s.Verdict != triage.Do
		}
	}
	return nil
}

// recollect finds out whether an earlier attempt at the task has commented, of which
// nothing is kept: what is kept may be a backup. Then the task is resumed.
func (x *execution) recollect(ctx context.Context, h hindsight) error {
	begun := slices.ContainsFunc(h.Events, func(e triage.TimelineEvent) bool {
		m, ok := markOf(e.Body)
		return ok && e.Kind == "commented" && m.task == x.Task && m.scope == x.Scope && h.ours(e)
	})
	if x.Resumed || !begun {
		return nil
	}
	x.Resumed = true
	return x.refresh(ctx)
}

// lookUp keeps the labels of a step that the repository has, in its spelling.
func (x *execution) lookUp(ctx context.Context, s *Step, known map[string]string) error {
	var kept, why []string
	for _, name := range s.labels {
		label, ok := known[fold(name)]
		if !ok {
			var err error
			label, err = x.Host.Label(ctx, x.Ref, name)
			if err != nil && !errors.Is(err, triage.ErrNotFound) {
				return err
			}
			known[fold(name)] = label
		}
		switch {
		case label == "":
			why = append(why, fmt.Sprintf("the repository has no label %q", name))
		case x.policy.Labels.Refuses(label) != "":
			why = append(why, fmt.Sprintf("%s: %s", label, x.policy.Labels.Refuses(label)))
		default:
			kept = append(kept, label)
		}
	}
	s.labels = kept
	if len(why) > 0 {
		s.Reason = strings.Join(append(nonEmpty(s.Reason), why...), "; ")
	}
	if len(kept) == 0 {
		s.Verdict = triage.Skip
	}
	return nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// refresh marks as done what an earlier attempt did, as the issue and its comments
// show it.
func (x *execution) refresh(ctx context.Context) error {
	raw, err := x.Host.Issue(ctx, x.Ref)
	if err != nil {
		return err
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil {
		return err
	}
	x.issue = issue.Issue
	// Each step is held against the issue as those before it will leave it: of a label
	// that is added and removed again both are done again, never one.
	now := issueState(x.issue)
	for i := range x.steps {
		s := &x.steps[i]
		switch {
		case s.Verdict != triage.Do:
		case s.landed:
			s.kind.change(&now, s)
		case s.isComment():
			// Too many comments to tell: the step itself will fail for it.
			if s.landed, err = x.done(ctx, s); err != nil && !errors.Is(err, triage.ErrTruncated) {
				return err
			}
		case s.kind.landed != nil && s.kind.landed(now, s):
			s.landed = true
		default:
			s.kind.change(&now, s)
		}
	}
	return nil
}
