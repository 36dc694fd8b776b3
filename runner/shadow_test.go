package runner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
)

// TestShadowScores lets rules predict actions in shadow mode. People then change the issues, and
// after the period the predictions are compared with the issues.
func TestShadowScores(t *testing.T) {
	t.Parallel()
	const repo = "Codertocat/Hello-World"
	gh, e, o := world(t, `mode: shadow
policy: {allow_close: true, shadow_period: 48h}
rules:
  - {id: docs, on: issues.opened, then: [add_labels: [docs, triage], comment: Hello]}
  - {id: bug, on: issues.opened, when: issue.number != 3, then: [remove_label: bug, close_issue: not_planned]}
`)
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	now := o.Clock.Now()
	o.Clock.Now = func() time.Time { return now }
	opened := func(number int) *memory.Scores {
		t.Helper()
		if number > 1 {
			gh.Repo(repo).AddIssue(githubtest.Issue{Number: number, Labels: []string{"bug"}, CreatedAt: now})
		}
		issue := *e.Issue
		issue.Number, issue.Labels, issue.CreatedAt = number, []string{"bug"}, now
		e.Number, e.Issue = number, &issue
		o.Task.ID = fmt.Sprintf("a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c%02d", number)
		rep, err := run(t, o, e)
		if err != nil || len(rep.Warnings) != 0 {
			t.Fatal(err, rep.Warnings)
		}
		return rep.Scores
	}
	if s := opened(1); len(s.Open) != 4 || len(s.Rules) != 0 {
		t.Errorf("got %+v, want four predictions", s)
	}
	opened(2)
	gh.Repo(repo).LabelAs("mona", 1, "docs").UnlabelAs("mona", 1, "bug").CloseAs("mona", 1, "not_planned").DeleteIssue(2)
	now = now.Add(47 * time.Hour)
	if s := opened(3); len(s.Open) != 10 {
		t.Errorf("before the period is over: %+v", s)
	}
	now = now.Add(2 * time.Hour)
	want := map[string]memory.Score{
		"docs": {Agreed: 1, Disagreed: 1, Since: o.Clock.Now().Add(-49 * time.Hour)},
		"bug":  {Agreed: 2, Since: o.Clock.Now().Add(-49 * time.Hour)},
	}
	s := opened(4)
	if diff := cmp.Diff(want, s.Rules); diff != "" || len(s.Open) != 6 {
		t.Errorf("%v are open; scores (-want +got):\n%s", s.Open, diff)
	}
	for n := 1; n <= 4; n++ {
		if n != 2 && len(gh.Issue(repo, n).Comments) != 0 {
			t.Error("something was written")
		}
	}
}

// TestScoresReadOnly checks that a run with a read-only memory, such as that of a pull request from a
// fork, reports the stored score and does not change it.
func TestScoresReadOnly(t *testing.T) {
	t.Parallel()
	const repo = "Codertocat/Hello-World"
	_, e, o := world(t, "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [add_label: docs]}\n")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	o.Memory.ReadOnly = true
	if rep, err := run(t, o, e); err != nil || len(rep.Warnings) != 0 || rep.Scores != nil {
		t.Errorf("without a record: got %+v, %v, %v", rep.Scores, rep.Warnings, err)
	}
	if _, err := store.Load(t.Context(), repo, memory.Repository); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a read-only run left a record: %v", err)
	}
	o.Memory.ReadOnly, o.Task.ID = false, "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c01"
	first, err := run(t, o, e)
	if err != nil || len(first.Scores.Open) != 1 {
		t.Fatalf("got %+v, %v, want one prediction", first.Scores, err)
	}
	stored, err := store.Load(t.Context(), repo, memory.Repository)
	if err != nil {
		t.Fatal(err)
	}
	o.Memory.ReadOnly, o.Task.ID = true, "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c02"
	rep, err := run(t, o, e)
	if err != nil || len(rep.Warnings) != 0 {
		t.Fatal(err, rep.Warnings)
	}
	if diff := cmp.Diff(first.Scores, rep.Scores); diff != "" {
		t.Errorf("reported score (-want +got):\n%s", diff)
	}
	after, err := store.Load(t.Context(), repo, memory.Repository)
	if diff := cmp.Diff(stored, after); err != nil || diff != "" {
		t.Errorf("%v; stored record (-want +got):\n%s", err, diff)
	}
}

// TestNoScores checks that a dry run keeps no score, and neither does a run without a store, without a
// host, or on an event of the past. The same run in shadow mode keeps one.
func TestNoScores(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [add_label: docs]}\n")
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	o.DryRun = true
	if rep, err := run(t, o, e); err != nil || rep.Scores != nil {
		t.Errorf("a dry run: got %v, %v", rep.Scores, err)
	}
	if _, err := store.Load(t.Context(), "Codertocat/Hello-World", memory.Repository); err == nil {
		t.Error("a dry run left a score")
	}
	o.DryRun = false
	unstored := o
	unstored.Memory.Store, unstored.Memory.Agenda = nil, nil
	if rep, err := run(t, unstored, e); err != nil || rep.Scores != nil {
		t.Errorf("without a store: got %v, %v", rep.Scores, err)
	}
	hostless, past := o, o
	hostless.Host.Issues, past.Live = nil, false
	for name, o := range map[string]options{"without a host": hostless, "an event of the past": past} {
		if rep, err := run(t, o, e); err != nil || rep.Scores != nil {
			t.Errorf("%s: got %v, %v", name, rep.Scores, err)
		}
	}
	if rep, err := run(t, o, e); err != nil || rep.Scores == nil || len(rep.Scores.Open) != 1 {
		t.Errorf("with a store: got %v, %v", rep.Scores, err)
	}
}

// TestScoresReads checks how many issues of due predictions a run reads, and that it does not save an
// unchanged score. The fourteen predictions are about seven issues.
func TestScoresReads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int // of the answers about issues; 0: they are read
		due    bool
		reads  int
		left   int
		saves  int
	}{
		{"not due", 0, false, 0, 14, 0},
		{"due", 0, true, 5, 4, 1},
		{"unreadable", 400, true, 5, 14, 0},
		{"gone", 410, true, 5, 4, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := world(t, "mode: shadow\npolicy: {shadow_period: 48h}\nrules:\n  - {id: docs, on: issues.closed, then: [add_label: docs]}\n")
			store, scores := &countingStore{Agenda: memory.New()}, &memory.Scores{}
			for n := range 7 {
				gh.Repo(repoName).AddIssue(githubtest.Issue{Number: n + 2})
				at := o.Clock.Now().Add(-time.Hour)
				if tt.due {
					at = at.Add(-49 * time.Hour)
				}
				for _, label := range []string{"docs", "triage"} {
					scores.Open = append(scores.Open, memory.Prediction{At: at, Issue: n + 2, Rule: "docs", Type: "add_label", Value: label})
				}
			}
			if err := store.Agenda.Save(t.Context(), memory.Record{Repo: repoName, Issue: memory.Repository, Scores: scores}); err != nil {
				t.Fatal(err)
			}
			keepIn(&o, store)
			if tt.status > 0 {
				gh.Fault(githubtest.Fault{Method: "GET", Path: "/repos/" + repoName + "/issues/*", Status: tt.status, Times: -1})
			}
			rep, err := run(t, o, e)
			if err != nil || rep.Scores == nil {
				t.Fatalf("got %v, %+v", err, rep)
			}
			reads := len(gh.Calls())
			if reads != tt.reads || len(rep.Scores.Open) != tt.left || store.saves != tt.saves {
				t.Errorf("read %d issues, %d predictions left, %d saves; want %d, %d, %d", reads, len(rep.Scores.Open), store.saves, tt.reads, tt.left, tt.saves)
			}
		})
	}
}

// TestScoresBroken checks that a score which cannot be parsed is replaced by a new one.
func TestScoresBroken(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "mode: shadow\nrules:\n  - {id: docs, on: issues.opened, then: [{add_label: docs}]}\n")
	dir := t.TempDir()
	store, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, store)
	if _, err := run(t, o, e); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, filepath.FromSlash(strings.ToLower(repoName)), "0.json")
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Task.ID = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c01"
	rep, err := run(t, o, e)
	if err != nil || len(rep.Warnings) > 0 || rep.Scores == nil || len(rep.Scores.Open) != 1 {
		t.Errorf("got %v, %+v, warnings %q", err, rep.Scores, rep.Warnings)
	}
}
