package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/triage"
)

// TestEarned lets a rule propose a label on twenty issues, which a person accepts, then carries it out on the
// next ones, where a person takes it off, and proposes it again.
func TestEarned(t *testing.T) {
	t.Parallel()
	p := newProposalStory(t, `
policy: {automation: earned}
rules:
  - {id: crash, on: issues.opened, then: [{add_label: crash}]}
`)
	label := func(number int) triage.ActionResult {
		p.repo.AddIssue(githubtest.Issue{Number: number, Title: "It crashes", Body: "a panic", Author: fmt.Sprintf("author-%d", number)})
		p.number = number
		p.run("opened", fmt.Sprintf("author-%d", number), triage.Comment{}, "")
		return p.last.Actions[0]
	}
	judge := func() {
		p.now = p.now.Add(15 * 24 * time.Hour)
		p.sweep()
	}
	p.sweep()
	for n := 101; n <= 120; n++ {
		want := fmt.Sprintf("earned: %d of %[1]d kept, bound ", n-101) // each acceptance counts at once
		if a := label(n); a.State != triage.Suggested || !strings.HasPrefix(a.Reason, want) {
			t.Fatalf("issue %d: got %s (%s)", n, a.State, a.Reason)
		}
		p.tell("comment mona /foreman accept 1")
		if p.last.Executed != 2 { // the label, and the reaction to the comment
			t.Fatalf("issue %d: the acceptance carried out %d", n, p.last.Executed)
		}
	}
	judge()
	_, err := memory.Update(t.Context(), p.o.Memory.Store, repoName, memory.Repository, func(r *memory.Record) error {
		r.Outcomes = nil // deleted: the next pass judges the same actions again, and restores the permission
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.sweep()
	for n := 121; n <= 124; n++ {
		if a := label(n); a.State != triage.Done || a.Reason != "" {
			t.Fatalf("issue %d: got %s (%s)", n, a.State, a.Reason)
		}
		p.now = p.now.Add(time.Hour)
		p.tell("unlabel mona crash")
	}
	judge()
	a := label(125)
	if want := "earned: 0 of 0 kept, bound 0.00; needs 20 judged, bound 0.85; counted since "; a.State != triage.Suggested || !strings.HasPrefix(a.Reason, want) {
		t.Errorf("after four undone: got %s (%s)", a.State, a.Reason)
	}
	if want := ": 20 of 23 were right, bound 0.71"; !strings.HasSuffix(a.Reason, want) {
		t.Errorf("after four undone: got %s", a.Reason)
	}
	r, err := p.o.Memory.Store.Load(t.Context(), repoName, memory.Repository)
	if err != nil || len(r.Outcomes.Pairs) != 1 {
		t.Fatalf("got %+v, %v", r.Outcomes, err)
	}
	if pair := r.Outcomes.Pairs[0]; pair.Before.Accepted != 20 || pair.Before.Undone != 4 || pair.Name != "crash" {
		t.Errorf("got %+v", pair)
	}
}

// TestChangesWithoutEffect accepts the sixtieth lock, whose permission is announced only if it has an effect.
func TestChangesWithoutEffect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		earn   policy.Earn
		shared bool
		want   int
	}{
		{policy.Earn{}, false, 1},
		{policy.Earn{}, true, 0},
		{policy.Earn{Distrust: []string{"heated"}}, false, 0},
		{policy.Earn{Trust: []string{"heated"}}, false, 0},
	} {
		p := newProposalStory(t, `
policy: {automation: earned}
rules:
  - {id: heated, on: issues.opened, then: [{lock: too heated}]}
`)
		p.o.Memory.Shared = tt.shared
		p.tell("opened")
		p.tell("earn heated lock " + strings.Repeat("k", 59))
		changed := *p.o.Config
		changed.Policy.Earn = tt.earn
		p.o.Config = &changed
		p.tell("comment mona /foreman accept 1")
		if got := p.last.Changes; len(got) != tt.want || tt.want == 1 && !got[0].Granted {
			t.Errorf("%+v, shared %v: got %+v, want %d", tt.earn, tt.shared, got, tt.want)
		}
		r, err := p.o.Memory.Store.Load(t.Context(), repoName, memory.Repository)
		if err != nil || len(r.Outcomes.Pairs) != 1 || r.Outcomes.Pairs[0].Granted.IsZero() {
			t.Errorf("got %+v, %v", r.Outcomes, err)
		}
	}
}

// TestEarnedUnknownAnswers rejects a label, which the rule may set later, and makes the record of the issue
// unreadable: the label is not set against the answer.
func TestEarnedUnknownAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, memory.ErrNotFound, memory.ErrBroken, memory.ErrNewer, errors.New("the service is down")} {
		p := newProposalStory(t, `
policy: {automation: earned}
rules:
  - {id: crash, on: [issues.opened, issues.edited], then: [{add_label: crash}]}
`)
		store := &faulty{Agenda: memory.New()}
		keepIn(&p.o, store)
		p.tell("opened")
		p.tell("comment mona /foreman reject 1")
		p.tell("earn crash add_label " + strings.Repeat("k", 40) + " crash")
		store.err = fault
		p.tell("edited")
		warned := strings.Contains(strings.Join(p.last.Warnings, "; "), "people's answers to proposals are not known")
		if want := fault != nil && !errors.Is(fault, memory.ErrNotFound); warned != want {
			t.Errorf("%v: got the warnings %q", fault, p.last.Warnings)
		}
		var states []string
		for _, a := range p.last.Actions {
			states = append(states, string(a.State)+": "+a.Reason)
		}
		set := slices.Contains(p.gh.Issue(repoName, 1).Labels, "crash")
		if want := errors.Is(fault, memory.ErrNotFound); set != want { // without a record there is no answer
			t.Errorf("%v: the label is set: %v, %q", fault, set, states)
		}
	}
}

// A faulty store has a record of issue 1 that cannot be loaded; nil: it can.
type faulty struct {
	memory.Agenda

	err error
}

func (f *faulty) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if issue == 1 && f.err != nil {
		return memory.Record{}, f.err
	}
	return f.Agenda.Load(ctx, repo, issue)
}
