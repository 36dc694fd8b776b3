package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// prepare makes the reads that verdicts depend on: the issue as it is now when an
// earlier attempt may have written, and each label that is to be added.
func (x *execution) prepare(ctx context.Context) error {
	if x.Resumed {
		if err := x.refresh(ctx); err != nil {
			return err
		}
	}
	known := map[string]string{} // lower-case name → the repository's spelling, "" for none
	for i := range x.steps {
		s := &x.steps[i]
		if s.Verdict != Do || s.landed || s.kind.limit != addsLabels || x.CreateLabels {
			continue
		}
		if err := x.lookUp(ctx, s, known); err != nil {
			return err
		}
	}
	return nil
}

// lookUp keeps the labels of a step that the repository has, in its spelling.
func (x *execution) lookUp(ctx context.Context, s *Step, known map[string]string) error {
	var kept, why []string
	for _, name := range s.labels {
		label, ok := known[fold(name)]
		if !ok {
			var err error
			label, err = x.Host.Label(ctx, x.Ref, name)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			known[fold(name)] = label
		}
		switch {
		case label == "":
			why = append(why, fmt.Sprintf("the repository has no label %q", name))
		case x.Labels.refuses(label) != "":
			why = append(why, fmt.Sprintf("%s: %s", label, x.Labels.refuses(label)))
		default:
			kept = append(kept, label)
		}
	}
	s.labels = kept
	if len(why) > 0 {
		s.Reason = strings.Join(append(nonEmpty(s.Reason), why...), "; ")
	}
	if len(kept) == 0 {
		s.Verdict = Pass
	}
	return nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// refresh marks as done what an earlier attempt did, as the issue shows it.
func (x *execution) refresh(ctx context.Context) error {
	raw, err := x.Host.Issue(ctx, x.Ref)
	if err != nil {
		return err
	}
	issue, err := ParseIssue(raw)
	if err != nil {
		return err
	}
	// Each step is held against the issue as those before it will leave it: of a label
	// that is added and removed again both are done again, never one.
	now := issueState(issue)
	for i := range x.steps {
		s := &x.steps[i]
		switch {
		case s.Verdict != Do:
		case s.kind.landed != nil && s.kind.landed(now, s):
			s.landed = true
		default:
			s.kind.change(&now, s)
		}
	}
	return nil
}
