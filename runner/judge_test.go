package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/triage"
)

// TestSweepJudges lets a rule label an issue, lets people react, and judges the label in a scheduled run without a
// scheduled rule, fifteen days later and again a day later.
func TestSweepJudges(t *testing.T) {
	t.Parallel()
	const rules = "rules:\n  - {id: crash, on: issues.opened, then: [{add_label: docs}]}\n"
	tests := []struct {
		name  string
		react func(gh *githubtest.Server)
		alter func(o *options)
		want  string // of the first run: judged, undone, and the track record of the rule
		reads int
	}{
		{name: "silence", want: "judged 1, undone 0: crash add_label docs: unjudged", reads: 2},
		{
			name:  "a person set another label",
			react: func(gh *githubtest.Server) { gh.Repo(sweepRepo).LabelAs("mona", 1, "triage") },
			want:  "judged 1, undone 0: crash add_label docs: kept", reads: 2,
		},
		{
			name:  "a person took it off",
			react: func(gh *githubtest.Server) { gh.Repo(sweepRepo).UnlabelAs("mona", 1, "docs") },
			want:  "judged 1, undone 1: crash add_label docs: undone", reads: 2,
		},
		{
			name: "a bot took it off, and a person was there",
			react: func(gh *githubtest.Server) {
				gh.Repo(sweepRepo).UnlabelAs("other[bot]", 1, "docs").LabelAs("mona", 1, "triage")
			},
			want: "judged 1, undone 0: crash add_label docs: unjudged", reads: 2,
		},
		{
			name: "the label was renamed, and a person was there",
			react: func(gh *githubtest.Server) {
				gh.RenameLabel(sweepRepo, "docs", "documentation")
				gh.Repo(sweepRepo).LabelAs("mona", 1, "triage")
			},
			want: "judged 1, undone 0: crash add_label docs: unjudged", reads: 2,
		},
		{
			name:  "the issue was deleted",
			react: func(gh *githubtest.Server) { gh.Repo(sweepRepo).DeleteIssue(1) },
			want:  "judged 1, undone 0: crash add_label docs: unjudged", reads: 1,
		},
		{name: "a longer time to judge", alter: func(o *options) { o.Config.Policy.JudgeAfter = 20 * 24 * time.Hour }, want: "judged 0, undone 0:"},
		{
			name: "not before the reset", alter: func(o *options) {
				o.Config.Policy.Earn = policy.Earn{Reset: map[string]time.Time{"crash": time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}}
			}, want: "judged 0, undone 0:", reads: 2,
		},
		{name: "a dry run", alter: func(o *options) { o.DryRun = true }, want: "judged 0, undone 0:"},
		{name: "no memory", alter: func(o *options) { keepIn(o, nil) }, want: "judged 0, undone 0:"},
		{name: "a memory that is read-only", alter: func(o *options) { o.Memory.ReadOnly = true }, want: "judged 0, undone 0:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, rules)
			keepIn(&o, memory.New())
			now := time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
			gh.Advance(now.Sub(gh.Issue(sweepRepo, 1).CreatedAt))
			o.Clock.Now = func() time.Time { return now }
			e.Issue.CreatedAt, e.Issue.UpdatedAt = now, now
			if rep, err := run(t, o, e); err != nil || rep.Executed != 1 {
				t.Fatal(rep.Reason, err)
			}
			gh.Advance(time.Hour)
			if tt.react != nil {
				tt.react(gh)
			}
			if tt.alter != nil {
				tt.alter(&o)
			}
			before := len(gh.Calls())
			got := judged(t, &o, now.AddDate(0, 0, 15))
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if n := len(gh.Calls()) - before; n != tt.reads {
				t.Errorf("%d calls, want %d: %v", n, tt.reads, gh.Calls()[before:])
			}
			for _, day := range []int{16, 5, 17} { // in between the clock is set back
				if again := judged(t, &o, now.AddDate(0, 0, day)); !strings.HasPrefix(again, "judged 0, undone 0:") {
					t.Errorf("on day %d again: %s", day, again)
				}
			}
		})
	}
}

// TestSweepChanges checks that a scheduled run reports a permission that was earned, if permissions are.
func TestSweepChanges(t *testing.T) {
	t.Parallel()
	for _, earned := range []bool{false, true} {
		gh, e, o := world(t, "rules:\n  - {id: crash, on: issues.opened, then: [{add_label: docs}]}\n")
		keepIn(&o, memory.New())
		if rep, err := run(t, o, e); err != nil || rep.Executed != 1 {
			t.Fatal(rep.Reason, err)
		}
		gh.Advance(time.Hour)
		gh.Repo(sweepRepo).LabelAs("mona", 1, "triage")
		o.Config.Policy.Earned = earned
		o.Config.Policy.Earn = policy.Earn{Bound: 0.2, Of: 1}
		later := gh.Issue(sweepRepo, 1).CreatedAt.AddDate(0, 0, 30)
		o.Clock.Now = func() time.Time { return later }
		event, err := triage.ParseEvent(triage.EventSource{Name: "schedule", Repo: sweepRepo, Payload: []byte(`{"schedule": "17 4 * * *"}`)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := sweep(t, o, event)
		if err != nil || s.Judgment.Judged != 1 {
			t.Fatalf("got %+v, %v", s.Judgment, err)
		}
		if got := s.Judgment.Changes; (len(got) == 1) != earned || earned && (!got[0].Granted || got[0].Name != "crash" || got[0].Why != "1 of 1 were right, bound 0.27") {
			t.Errorf("earned %v: got %+v", earned, got)
		}
	}
}

// judged makes a scheduled run at a time, and describes its judgment.
func judged(t *testing.T, o *options, at time.Time) string {
	t.Helper()
	o.Clock.Now = func() time.Time { return at }
	e, err := triage.ParseEvent(triage.EventSource{Name: "schedule", Repo: sweepRepo, Payload: []byte(`{"schedule": "17 4 * * *"}`)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sweep(t, *o, e)
	if err != nil || len(s.Warnings) > 0 {
		t.Fatal(err, s.Warnings)
	}
	text := fmt.Sprintf("judged %d, undone %d:", s.Judgment.Judged, s.Judgment.Undone)
	if s.Judgment.Outcomes == nil {
		return text
	}
	for _, p := range s.Judgment.Outcomes.Pairs {
		if !strings.HasPrefix(p.Source, "rule:") || len(p.Source) != len("rule:")+16 {
			t.Errorf("got the source %s", p.Source)
		}
		text += fmt.Sprintf(" %s %s %s: ", p.Name, p.Action, p.Value)
		for n, state := range map[int]string{p.Kept: "kept", p.Undone: "undone", p.Unjudged: "unjudged"} {
			if n == 1 {
				text += state
			}
		}
	}
	return text
}
