package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// plannedIn describes the record of an issue: the planned actions of each task, and the status. It is empty if
// there is no record.
func plannedIn(t *testing.T, store memory.Store, issue int) string {
	t.Helper()
	r, err := store.Load(t.Context(), repoName, issue)
	if errors.Is(err, memory.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, task := range r.Tasks {
		text := task.Status + ":"
		for _, a := range task.Actions {
			text += fmt.Sprintf(" %s %s %s %s", a.Rule, a.Result, a.Type, strings.Join(a.Values, ","))
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// TestShadow lets rules plan actions in shadow mode. People then change the issues, and a scheduled run compares
// the actions with what people did, after the period and only once.
func TestShadow(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `mode: shadow
policy: {allow_close: true, shadow_period: 48h, judge_after: 30d}
rules:
  - {id: docs, on: issues.opened, then: [add_labels: [docs, triage], comment: Hello]}
  - {id: bug, on: issues.opened, when: issue.number != 3, then: [remove_label: bug, close_issue: not_planned]}
`)
	store := memory.New()
	keepIn(&o, store)
	now := time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
	gh.Advance(now.Sub(gh.Issue(repoName, 1).CreatedAt))
	start := now
	for number := 1; number <= 3; number++ {
		if number > 1 {
			gh.Repo(repoName).AddIssue(githubtest.Issue{Number: number, Labels: []string{"bug"}, CreatedAt: now})
		}
		o.Clock.Now = func() time.Time { return now }
		issue := *e.Issue
		issue.Number, issue.Labels, issue.CreatedAt, issue.UpdatedAt = number, []string{"bug"}, now, now
		e.Number, e.Issue = number, &issue
		o.Task.ID = fmt.Sprintf("a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c%02d", number)
		rep, err := run(t, o, e)
		if err != nil || len(rep.Warnings) != 0 || rep.Executed != 0 {
			t.Fatal(err, rep.Warnings)
		}
	}
	if got, want := plannedIn(t, store, 1), "dry_run: docs planned add_labels docs,triage bug planned remove_label bug bug planned close_issue not_planned"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := plannedIn(t, store, memory.Repository); got != "" {
		t.Errorf("the repository has the record %s", got)
	}
	gh.Advance(time.Hour)
	gh.Repo(repoName).LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "bug").CloseAs("mona", 1, "not_planned").DeleteIssue(2)
	var got []string
	for _, after := range []time.Duration{47 * time.Hour, 49 * time.Hour, 73 * time.Hour} {
		now = start.Add(after)
		s := shadowSweep(t, o)
		line := fmt.Sprintf("%s: judged %d, undone %d:", after, s.Judgment.Judged, s.Judgment.Undone)
		if s.Judgment.Outcomes != nil {
			for _, p := range s.Judgment.Outcomes.Pairs {
				line += strings.TrimRight(fmt.Sprintf("\n%s %s %s %d kept, %d undone, %d unjudged, %s", p.Name, p.Action, p.Value, p.Shadow.Kept, p.Shadow.Undone, p.Shadow.Unjudged, p.Shadow.Last), ", ")
				if p.Tally != (memory.Tally{}) || !p.Granted.IsZero() {
					t.Errorf("shadow mode counts as %+v", p)
				}
			}
		}
		got = append(got, line)
	}
	outcomes := `
bug remove_label bug 1 kept, 0 undone, 1 unjudged, k
bug close_issue  1 kept, 0 undone, 1 unjudged, k
docs add_label docs 1 kept, 0 undone, 2 unjudged, k
docs add_label triage 0 kept, 1 undone, 2 unjudged, u`
	want := []string{"47h0m0s: judged 0, undone 0:", "49h0m0s: judged 10, undone 0:" + outcomes, "73h0m0s: judged 0, undone 0:" + outcomes}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, n := range []int{1, 3} {
		if len(gh.Issue(repoName, n).Comments) != 0 {
			t.Error("something was written")
		}
	}
}

// shadowSweep makes a scheduled run.
func shadowSweep(t *testing.T, o options) runner.Survey {
	t.Helper()
	e, err := triage.ParseEvent(triage.EventSource{Name: "schedule", Repo: repoName, Payload: []byte(`{"schedule": "17 4 * * *"}`)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sweep(t, o, e)
	if err != nil || len(s.Warnings) > 0 {
		t.Fatal(err, s.Warnings)
	}
	return s
}

// TestShadowRecord checks which actions are recorded, and in which runs.
func TestShadowRecord(t *testing.T) {
	t.Parallel()
	const docs = "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [{add_label: docs}]}\n"
	const want = "dry_run: docs planned add_label docs"
	tests := []struct {
		name, config string
		alter        func(o *options)
		want         string
		warns        bool
	}{
		{name: "shadow mode", want: want},
		{name: "an event of the past", alter: func(o *options) { o.Live = false }, want: want},
		{name: "a dry run in shadow mode", alter: func(o *options) { o.DryRun = true }},
		{name: "a dry run", config: strings.TrimPrefix(docs, "mode: shadow\n"), alter: func(o *options) { o.DryRun = true }},
		{name: "a memory that is read-only", alter: func(o *options) { o.Memory.ReadOnly = true }},
		{name: "a memory that stores nothing", alter: func(o *options) { o.Memory.Discards = true }},
		{name: "without a host", alter: func(o *options) { o.Host = runner.Host{} }},
		{name: "a memory that cannot be written", alter: func(o *options) { o.Memory.Store = brokenStore{o.Memory.Agenda} }, warns: true},
		{name: "a comment", config: "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [{comment: Hello}]}\n"},
		{name: "a label that is there", config: "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [{add_label: bug}]}\n"},
		{name: "an action that would be proposed", config: strings.Replace(docs, "add_label: docs", "add_label: {label: docs, suggest: true}", 1), want: want},
		{
			name: "an escalated issue", config: "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [{add_label: docs}]}\n  - {id: loud, on: issues.opened, then: [escalate]}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.config == "" {
				tt.config = docs
			}
			_, e, o := world(t, tt.config)
			store := memory.New()
			keepIn(&o, store)
			if tt.alter != nil {
				tt.alter(&o)
			}
			rep, err := run(t, o, e)
			if err != nil || (len(rep.Warnings) > 0) != tt.warns {
				t.Error(err, rep.Warnings)
			}
			if got := plannedIn(t, store, 1); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := plannedIn(t, store, memory.Repository); got != "" {
				t.Errorf("the repository has the record %s", got)
			}
		})
	}
}

// brokenStore cannot save.
type brokenStore struct{ memory.Agenda }

func (brokenStore) Save(_ context.Context, _ memory.Record) error {
	return errors.New("the disk is full")
}

// TestShadowAgain checks that an action is recorded once for an issue, whatever plans it again, and that a record
// with real tasks keeps them.
func TestShadowAgain(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, `mode: shadow
rules:
  - {id: docs, on: [issues.opened, issues.edited, schedule], scan: "is:open", then: [{add_label: docs}]}
  - {id: more, on: issues.edited, then: [{add_labels: [docs, triage]}]}
`)
	store := &countingStore{Agenda: memory.New()}
	keepIn(&o, store)
	o.Live = false
	done := memory.Task{ID: "earlier", At: o.Clock.Now().AddDate(0, -1, 0), By: "rules", Status: "applied", Actions: []memory.Action{
		{Type: "add_label", Values: []string{"old"}, Rule: "docs", Result: triage.Done},
	}}
	if _, err := memory.Update(t.Context(), store, repoName, 1, func(r *memory.Record) error { r.Put(done); return nil }); err != nil {
		t.Fatal(err)
	}
	const first = "applied: docs done add_label old; dry_run: docs planned add_label docs"
	for _, step := range []struct {
		name  string
		key   string
		id    int
		saves int
		want  string
	}{
		{"opened", "opened", 1, 1, first},
		{"the run again", "opened", 1, 0, first},
		{"another event", "opened", 2, 0, first},
		{"another rule", "edited", 3, 1, first + "; dry_run: more planned add_labels docs,triage"},
		{"another rule again", "edited", 4, 0, first + "; dry_run: more planned add_labels docs,triage"},
		{"a scheduled run", "schedule", 5, 0, first + "; dry_run: more planned add_labels docs,triage"},
	} {
		store.saves, o.Task.ID = 0, fmt.Sprintf("a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c%02d", step.id)
		if step.key == "schedule" {
			shadowSweep(t, o)
		} else {
			e.Action = step.key
			if rep, err := run(t, o, e); err != nil || len(rep.Warnings) > 0 {
				t.Fatal(step.name, err, rep.Warnings)
			}
		}
		if got := plannedIn(t, store, 1); got != step.want || store.saves != step.saves {
			t.Errorf("%s: %d saves, %s\nwant %d, %s", step.name, store.saves, got, step.saves, step.want)
		}
	}
}

// TestShadowIsNoHistory records planned actions in shadow mode, and then lets the same rules act: what was only planned
// neither counts as done nor is in the way.
func TestShadowIsNoHistory(t *testing.T) {
	t.Parallel()
	gh, e, o := world(t, `mode: shadow
policy: {allow_close: true, comment_interval: 24h}
rules:
  - {id: docs, on: issues.opened, then: [add_label: docs, comment: Hello]}
  - {id: first, on: issues.opened, when: memory.tasks == 0, then: [add_label: triage]}
`)
	store := memory.New()
	keepIn(&o, store)
	o.Live = false
	if rep, err := run(t, o, e); err != nil || rep.Executed != 0 {
		t.Fatal(err, rep.Reason)
	}
	r, err := store.Load(t.Context(), repoName, 1)
	if err != nil || len(r.Tasks) != 1 || !r.Tasks[0].Suppressed() {
		t.Fatalf("got %+v, %v", r, err)
	}
	if text, ok := memory.Summary(r); ok {
		t.Errorf("the summary is %s", text)
	}
	o.Config.Mode, o.Task.ID = config.ModeApply, "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c09"
	rep, err := run(t, o, e)
	if err != nil || rep.Executed != 3 {
		t.Errorf("got %d actions, %v: %+v", rep.Executed, err, rep.Actions)
	}
	if i := gh.Issue(repoName, 1); len(i.Labels) != 3 || len(i.Comments) != 1 {
		t.Errorf("got labels %v and %d comments", i.Labels, len(i.Comments))
	}
}
